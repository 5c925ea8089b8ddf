/*
 * floor METHOD FILE ORDER BLOCK OPERATIONS: reads blocks of a file in a loop with nothing in it but the calls, and prints
 * wall and CPU nanoseconds an operation. METHOD is pread, mmap, uring (32 reads in flight, file and buffers registered),
 * direct (pread past the cache) or direct-uring (handed over in pairs, as the native engine does); ORDER is sequential or random (each block once). Compiled by lab.py.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define DEPTH 32

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

static uint64_t cpu_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ull +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ull;
}

static uint32_t *numbers_of(uint32_t blocks, int random)
{
	uint32_t *numbers = malloc(blocks * sizeof(*numbers));
	uint64_t state = 88172645463325252ull;

	if (!numbers)
		fail("malloc");
	for (uint32_t i = 0; i < blocks; i++)
		numbers[i] = i;
	for (uint32_t last = blocks - 1; random && last > 0; last--) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
		uint32_t other = state % (last + 1), kept = numbers[last];
		numbers[last] = numbers[other];
		numbers[other] = kept;
	}
	return numbers;
}

static void by_pread(int fd, char *buffer, const uint32_t *numbers, uint32_t count, size_t block)
{
	for (uint32_t i = 0; i < count; i++) {
		if (pread(fd, buffer, block, (off_t)numbers[i] * block) != (ssize_t)block)
			fail("pread");
		__asm__ volatile("" : : "r"(buffer) : "memory");
	}
}

static void by_mmap(int fd, char *buffer, const uint32_t *numbers, uint32_t count, size_t block, size_t size)
{
	const char *map = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);

	if (map == MAP_FAILED)
		fail("mmap");
	for (uint32_t i = 0; i < count; i++) {
		memcpy(buffer, map + (size_t)numbers[i] * block, block);
		__asm__ volatile("" : : "r"(buffer) : "memory");
	}
}

struct ring {
	int fd;
	_Atomic unsigned *sq_tail, *cq_head, *cq_tail;
	unsigned sq_mask, cq_mask;
	unsigned *sq_array;
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqes;
};

static void *ring_part(int fd, size_t size, off_t at)
{
	void *part = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd, at);

	if (part == MAP_FAILED)
		fail("mmap of the ring");
	return part;
}

static struct ring ring_of(int file, char *buffers, size_t block)
{
	struct io_uring_params p = { .flags = IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN };
	struct ring r = { .fd = syscall(SYS_io_uring_setup, DEPTH, &p) };
	struct iovec places[DEPTH];

	if (r.fd < 0)
		fail("io_uring_setup");
	char *sq = ring_part(r.fd, p.sq_off.array + p.sq_entries * sizeof(unsigned), IORING_OFF_SQ_RING);
	char *cq = ring_part(r.fd, p.cq_off.cqes + p.cq_entries * sizeof(struct io_uring_cqe), IORING_OFF_CQ_RING);
	r.sqes = ring_part(r.fd, p.sq_entries * sizeof(struct io_uring_sqe), IORING_OFF_SQES);
	r.sq_tail = (void *)(sq + p.sq_off.tail);
	r.sq_mask = *(unsigned *)(sq + p.sq_off.ring_mask);
	r.sq_array = (void *)(sq + p.sq_off.array);
	r.cq_head = (void *)(cq + p.cq_off.head);
	r.cq_tail = (void *)(cq + p.cq_off.tail);
	r.cq_mask = *(unsigned *)(cq + p.cq_off.ring_mask);
	r.cqes = (void *)(cq + p.cq_off.cqes);
	for (int slot = 0; slot < DEPTH; slot++)
		places[slot] = (struct iovec){ buffers + slot * block, block };
	if (syscall(SYS_io_uring_register, r.fd, IORING_REGISTER_BUFFERS, places, DEPTH) < 0 ||
	    syscall(SYS_io_uring_register, r.fd, IORING_REGISTER_FILES, &file, 1) < 0)
		fail("io_uring_register");
	return r;
}

static void by_uring(struct ring *r, char *buffers, const uint32_t *numbers, uint32_t count, size_t block, unsigned group)
{
	unsigned short free_slots[DEPTH];
	unsigned frees = DEPTH, flying = 0, tail = *r->sq_tail, head = *r->cq_head;
	uint32_t next = 0;

	for (int slot = 0; slot < DEPTH; slot++)
		free_slots[slot] = slot;
	for (;;) {
		unsigned pushed = 0;

		while (frees && next < count) {
			unsigned short slot = free_slots[--frees];
			struct io_uring_sqe *sqe = &r->sqes[tail & r->sq_mask];

			memset(sqe, 0, sizeof(*sqe));
			sqe->opcode = IORING_OP_READ_FIXED;
			sqe->flags = IOSQE_FIXED_FILE;
			sqe->off = (uint64_t)numbers[next++] * block;
			sqe->addr = (uint64_t)(buffers + slot * block);
			sqe->len = block;
			sqe->buf_index = slot;
			sqe->user_data = slot;
			r->sq_array[tail & r->sq_mask] = tail & r->sq_mask;
			tail++;
			if (++pushed == group) {
				atomic_store_explicit(r->sq_tail, tail, memory_order_release);
				if (syscall(SYS_io_uring_enter, r->fd, pushed, 0, 0, NULL, 0) < 0)
					fail("io_uring_enter");
				flying += pushed;
				pushed = 0;
			}
		}
		flying += pushed;
		if (!flying)
			return;
		atomic_store_explicit(r->sq_tail, tail, memory_order_release);
		if (syscall(SYS_io_uring_enter, r->fd, pushed, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 0 && errno != EINTR)
			fail("io_uring_enter");
		unsigned done = atomic_load_explicit(r->cq_tail, memory_order_acquire);
		for (; head != done; head++) {
			struct io_uring_cqe *cqe = &r->cqes[head & r->cq_mask];

			if (cqe->res != (int)block)
				fail("read by io_uring");
			free_slots[frees++] = cqe->user_data;
			flying--;
		}
		atomic_store_explicit(r->cq_head, head, memory_order_release);
	}
}

int main(int argc, char **argv)
{
	struct stat stat;
	struct ring ring;

	if (argc != 6)
		return 2;
	size_t block = strtoul(argv[4], NULL, 10);
	int direct = !strncmp(argv[1], "direct", 6), uring = !!strstr(argv[1], "uring");
	int fd = open(argv[2], O_RDONLY | (direct ? O_DIRECT : 0));
	if (fd < 0 || fstat(fd, &stat) < 0)
		fail(argv[2]);
	uint32_t blocks = stat.st_size / block, count = strtoul(argv[5], NULL, 10);
	if (count > blocks)
		count = blocks;
	uint32_t *numbers = numbers_of(blocks, !strcmp(argv[3], "random"));
	char *buffers = aligned_alloc(4096, DEPTH * block);
	if (!buffers)
		fail("aligned_alloc");
	memset(buffers, 1, DEPTH * block);
	if (uring)
		ring = ring_of(fd, buffers, block);
	uint64_t cpu = cpu_ns(), start = now_ns();
	if (uring)
		by_uring(&ring, buffers, numbers, count, block, direct ? 2 : DEPTH + 1);
	else if (!strcmp(argv[1], "mmap"))
		by_mmap(fd, buffers, numbers, count, block, stat.st_size);
	else
		by_pread(fd, buffers, numbers, count, block);
	uint64_t wall = now_ns() - start;
	cpu = cpu_ns() - cpu;
	printf("%.2f %.2f\n", (double)wall / count, (double)cpu / count);
	return 0;
}
