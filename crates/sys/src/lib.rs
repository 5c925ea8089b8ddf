//! Safe wrappers over system calls, /proc and /sys.
