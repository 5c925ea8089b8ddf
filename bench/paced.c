/*
 * paced FILE CALLS SECONDS THREADS: reads 4 KiB of a cached file at random CALLS times a second, from THREADS threads together,
 * for SECONDS, and prints how many calls were made and how many milliseconds they took. Each thread makes the calls of a
 * millisecond at once and sleeps then, so that whoever watches finds the CPUs idle for a while, as beside a server. Compiled by
 * record.py.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define BLOCK 4096
#define TICK_NS 1000000ull

struct work {
	int fd;
	uint64_t blocks, calls, seed;
	double calls_a_tick;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ull + now.tv_nsec;
}

static void sleep_until(uint64_t ns)
{
	struct timespec then = { .tv_sec = ns / 1000000000ull, .tv_nsec = ns % 1000000000ull };

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL);
}

/* A thread that comes too late makes up for it: the calls of all ticks that have passed are due. */
static void *reads(void *argument)
{
	struct work *work = argument;
	uint64_t start = now_ns(), state = work->seed, done = 0;
	char buffer[BLOCK];

	for (uint64_t tick = 1; done < work->calls; tick++) {
		uint64_t due = tick * work->calls_a_tick;

		for (; done < due && done < work->calls; done++) {
			state ^= state << 13;
			state ^= state >> 7;
			state ^= state << 17;
			if (pread(work->fd, buffer, BLOCK, state % work->blocks * BLOCK) != BLOCK)
				fail("pread");
		}
		sleep_until(start + tick * TICK_NS);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	struct stat stat;

	if (argc != 5)
		return 2;
	double rate = strtod(argv[2], NULL), seconds = strtod(argv[3], NULL);
	int threads = atoi(argv[4]), fd = open(argv[1], O_RDONLY);
	if (threads < 1 || threads > 64 || fd < 0 || fstat(fd, &stat) < 0 || stat.st_size < BLOCK)
		fail(argv[1]);
	pthread_t ids[64];
	struct work works[64];
	uint64_t start = now_ns(), calls = 0;
	for (int i = 0; i < threads; i++) {
		works[i] = (struct work){ fd, stat.st_size / BLOCK, rate * seconds / threads, 88172645463325252ull + i,
					  rate / threads * TICK_NS / 1e9 };
		calls += works[i].calls;
		if (pthread_create(&ids[i], NULL, reads, &works[i]))
			fail("pthread_create");
	}
	for (int i = 0; i < threads; i++)
		pthread_join(ids[i], NULL);
	printf("%llu %llu\n", (unsigned long long)calls, (unsigned long long)((now_ns() - start) / 1000000));
	return 0;
}
