/* Preloaded: tells on standard error how long a program's calls of libc took, by the time stamp counter read around each of them. The loop
 * that finds what reading it twice takes is at the end. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

static uint64_t ticks, calls, begun_ticks;
static double begun_s;

static double seconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

#define TIMED(CALL)                        \
	({                                 \
		uint64_t begun = __rdtsc(); \
		long got = (CALL);         \
		ticks += __rdtsc() - begun; \
		calls++;                   \
		got;                       \
	})

ssize_t read(int fd, void *to, size_t size) { return TIMED(syscall(SYS_read, fd, to, size)); }
ssize_t write(int fd, const void *from, size_t size) { return TIMED(syscall(SYS_write, fd, from, size)); }
ssize_t pread(int fd, void *to, size_t size, off_t at) { return TIMED(syscall(SYS_pread64, fd, to, size, at)); }
int fsync(int fd) { return (int)TIMED(syscall(SYS_fsync, fd)); }
int close(int fd) { return (int)TIMED(syscall(SYS_close, fd)); }
int open(const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	int mode = flags & O_CREAT ? va_arg(more, int) : 0;
	va_end(more);
	return (int)TIMED(syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}

__attribute__((constructor)) static void begin(void)
{
	begun_ticks = __rdtsc();
	begun_s = seconds();
}

__attribute__((destructor)) static void tell(void)
{
	double per_second = (double)(__rdtsc() - begun_ticks) / (seconds() - begun_s);
	uint64_t empty = 0;
	enum { LOOPS = 100000 };
	for (int i = 0; i < LOOPS; i++) {
		uint64_t from = __rdtsc();
		empty += __rdtsc() - from;
	}
	double own = (double)calls * (double)empty / LOOPS;
	fprintf(stderr, "%lu %.9f\n", (unsigned long)calls, ((double)ticks - own) / per_second);
}
