/*
 * disturb WHAT DIR CMD…: does one thing more than CMD, then becomes it. What a budget must notice, each time.
 *
 * none: nothing, as the runs that the budget is made of. read: reads one more file. lookup: looks one more path up in vain. sync: one
 * more fsync. device: 64 KiB more from the device.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char buffer[64 << 10];

static int open_in(const char *directory, const char *name)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0) {
		perror(path);
		exit(125);
	}
	return fd;
}

int main(int argc, char **argv)
{
	const char *what = argc > 3 ? argv[1] : "";
	struct stat status;

	if (!strcmp(what, "read")) {
		if (read(open_in(argv[2], "small"), buffer, 4096) < 0)
			return 125;
	} else if (!strcmp(what, "lookup")) {
		stat("/nowhere/to/be/found", &status);
	} else if (!strcmp(what, "sync")) {
		fsync(open_in(argv[2], "small"));
	} else if (!strcmp(what, "device")) {
		int fd = open_in(argv[2], "large");

		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
		if (pread(fd, buffer, sizeof(buffer), 0) != sizeof(buffer))
			return 125;
	} else if (strcmp(what, "none")) {
		fprintf(stderr, "usage: disturb none|read|lookup|sync|device DIR CMD...\n");
		return 125;
	}
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 127;
}
