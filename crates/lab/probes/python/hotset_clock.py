"""Nanoseconds of the monotonic clock, which never jumps, in every Python from 2.7 on."""

import time

if hasattr(time, "monotonic_ns"):
    now = time.monotonic_ns
elif hasattr(time, "monotonic"):
    def now():
        """Python 3.3 to 3.6 tell seconds, precise to a nanosecond for seven weeks after the start of the host."""
        return int(time.monotonic() * 1e9)
else:
    # Python 2.7 has only clocks that jump or count CPU time.
    import ctypes

    class Timespec(ctypes.Structure):
        """What clock_gettime(2) fills in."""
        _fields_ = [("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long)]

    CLOCK_MONOTONIC = 1  # Linux's number
    FILLED = Timespec()
    LIBRARY = ctypes.CDLL(None, use_errno=True)

    def now():
        """What the C library says."""
        if LIBRARY.clock_gettime(CLOCK_MONOTONIC, ctypes.byref(FILLED)):
            raise OSError(ctypes.get_errno(), "clock_gettime failed")
        return FILLED.seconds * 1000000000 + FILLED.nanoseconds
