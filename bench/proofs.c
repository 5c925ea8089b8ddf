/* Seven kinds of program, each as it is first written and as its author would change it: `proofs KIND original|changed DIR`.
 *
 * Each computes with what it reads, so that a run is not all I/O, and both forms print the same sum.
 *
 * `proofs prefetch LIST PROGRAM [WORD...]` asks the kernel for the files of a list, then becomes the program: what an author would
 * put at its beginning.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAGE = 4096, LARGE = 256 << 10 };

static uint64_t sum = 14695981039346656037u;
static unsigned char *buffer;

static void fail(const char *what)
{
	fprintf(stderr, "proofs: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* FNV-1a: about a nanosecond a byte. */
static void compute(const unsigned char *bytes, long count)
{
	for (long at = 0; at < count; at++)
		sum = (sum ^ bytes[at]) * 1099511628211u;
}

static uint64_t next(void)
{
	static uint64_t x = 88172645463325252u;
	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

/* Few pages often, many pages rarely: the square of a uniform number. */
static long skewed_page(long pages)
{
	double u = (double)(next() >> 11) / 9007199254740992.0;
	return (long)(u * u * (double)pages);
}

static int open_or_fail(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0)
		fail(path);
	return fd;
}

static long pages_of(int fd)
{
	struct stat there;
	if (fstat(fd, &there))
		fail("fstat");
	return there.st_size / PAGE;
}

static void read_page(int fd, long page)
{
	if (pread(fd, buffer, PAGE, page * PAGE) != PAGE)
		fail("pread");
	compute(buffer, 512);
}

/* Skewed reads with O_DIRECT; changed: through the page cache. */
static void direct(int changed)
{
	int fd = open_or_fail("data", O_RDONLY | (changed ? 0 : O_DIRECT));
	long pages = pages_of(fd) / 8;
	for (int i = 0; i < 20000; i++)
		read_page(fd, skewed_page(pages));
	close(fd);
}

/* A million records of 4 bytes, each written by itself; changed: a buffer of 64 KiB. */
static void small_writes(int changed)
{
	int fd = open_or_fail("out", O_WRONLY | O_CREAT | O_TRUNC);
	long filled = 0;
	for (int i = 0; i < 1000000; i++) {
		uint32_t record = (uint32_t)next();
		compute((unsigned char *)&record, 4);
		if (!changed) {
			if (write(fd, &record, 4) != 4)
				fail("write");
			continue;
		}
		memcpy(buffer + filled, &record, 4);
		filled += 4;
		if (filled == 64 << 10) {
			if (write(fd, buffer, filled) != filled)
				fail("write");
			filled = 0;
		}
	}
	if (filled && write(fd, buffer, filled) != filled)
		fail("write");
	close(fd);
}

/* A file read in pieces of 512 bytes; changed: of 256 KiB. */
static void small_reads(int changed)
{
	int fd = open_or_fail("data", O_RDONLY);
	long size = changed ? LARGE : 512, got;
	while ((got = read(fd, buffer, size)) > 0)
		for (long at = 0; at < got; at += 512)
			compute(buffer + at, 64);
	close(fd);
}

/* A log that is synced after each record; changed: after each 50. */
static void synced(int changed)
{
	int fd = open_or_fail("out", O_WRONLY | O_CREAT | O_TRUNC);
	for (int i = 1; i <= 1000; i++) {
		compute(buffer, 100000);
		if (write(fd, buffer, 200) != 200)
			fail("write");
		if ((!changed || i % 50 == 0 || i == 1000) && fsync(fd))
			fail("fsync");
	}
	close(fd);
}

/* Pages at random by pread; changed: by a mapping. */
static void mapped(int changed)
{
	int fd = open_or_fail("data", O_RDONLY);
	long pages = pages_of(fd);
	unsigned char *map = NULL;
	if (changed) {
		map = mmap(NULL, (size_t)pages * PAGE, PROT_READ, MAP_SHARED, fd, 0);
		if (map == MAP_FAILED)
			fail("mmap");
	}
	for (int i = 0; i < 500000; i++) {
		long page = (long)(next() % (uint64_t)pages);
		const unsigned char *bytes = buffer;
		if (changed)
			bytes = map + page * PAGE;
		else if (pread(fd, buffer, PAGE, page * PAGE) != PAGE)
			fail("pread");
		compute(bytes, 64);
	}
	close(fd);
}

/* A configuration that is read and parsed for each record; changed: once, and what was parsed is kept. */
static void reread(int changed)
{
	uint64_t before = sum;
	for (int i = 0; i < 20000; i++) {
		if (changed && i > 0)
			continue;
		sum = before;
		int fd = open_or_fail("config", O_RDONLY);
		long got = read(fd, buffer, LARGE);
		close(fd);
		compute(buffer, got);
	}
}

/* Modules that are looked for in 43 directories; changed: in the one that has them. */
static void lookups(int changed)
{
	char path[64];
	for (int i = 0; i < 4000; i++) {
		int fd = -1;
		for (int dir = changed ? 43 : 0; dir <= 43 && fd < 0; dir++) {
			snprintf(path, sizeof path, "modules/%d/m%d", dir, i % 200);
			fd = open(path, O_RDONLY | O_CLOEXEC);
		}
		if (fd < 0)
			fail(path);
		long got = read(fd, buffer, LARGE);
		close(fd);
		compute(buffer, got);
	}
}

/* Asks for each file of a list, a path a line, and waits for none. */
static void prefetch(const char *list)
{
	char path[4096];
	FILE *paths = fopen(list, "r");

	if (!paths)
		fail(list);
	while (fgets(path, sizeof path, paths)) {
		path[strcspn(path, "\n")] = 0;
		int fd = open_or_fail(path, O_RDONLY);
		posix_fadvise(fd, 0, 0, POSIX_FADV_WILLNEED);
		close(fd);
	}
	fclose(paths);
}

int main(int count, char **words)
{
	static const struct {
		const char *kind;
		void (*run)(int changed);
	} kinds[] = {
		{"direct", direct},   {"small-writes", small_writes}, {"small-reads", small_reads}, {"synced", synced},
		{"mapped", mapped},   {"reread", reread},	      {"lookups", lookups},
	};

	if (count > 3 && !strcmp(words[1], "prefetch")) {
		prefetch(words[2]);
		execvp(words[3], words + 3);
		fail(words[3]);
	}
	if (count != 4 || (strcmp(words[2], "original") && strcmp(words[2], "changed"))) {
		fprintf(stderr, "usage: proofs KIND original|changed DIR, or proofs prefetch LIST PROGRAM [WORD...]\n");
		return 2;
	}
	if (chdir(words[3]))
		fail(words[3]);
	if (posix_memalign((void **)&buffer, PAGE, LARGE))
		fail("memory");
	memset(buffer, 1, LARGE);
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (!strcmp(kinds[i].kind, words[1])) {
			kinds[i].run(!strcmp(words[2], "changed"));
			printf("%016llx\n", (unsigned long long)sum);
			return 0;
		}
	}
	fprintf(stderr, "proofs: %s: no such kind\n", words[1]);
	return 2;
}
