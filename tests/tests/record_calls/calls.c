/*
 * Every call that a recording has, by two threads and a child: each reads and writes files of its own, so that what it does is the
 * same in every execution.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define NONE ((void *)-1)

static char bytes[1 << 16];

/* What a call returns is for the trace to say; what later calls need is checked. */
static long must(long result)
{
	if (result < 0) {
		perror("calls");
		_exit(1);
	}
	return result;
}

static void read_every_way(int fd)
{
	struct iovec two[2] = { { bytes, 100 }, { bytes, 5000 } };
	read(fd, bytes, 10);
	read(fd, bytes, 8192);
	pread(fd, bytes, 4096, 4000);
	pread(fd, bytes, 4096, 1 << 30);
	pread(fd, bytes, 16, -5);
	read(fd, bytes, 0);
	readv(fd, two, 2);
	preadv(fd, two, 2, 7);
	preadv2(fd, two, 2, 4096, 0);
	preadv2(fd, two, 2, -1, 0);
	syscall(SYS_preadv2, fd, two, 2, 0L, 0L, 1 << 20);
	lseek(fd, 12345, SEEK_SET);
	read(fd, bytes, 1);
	read(fd, NULL + 1, 4096);
	lseek(fd, -3, SEEK_END);
	read(fd, bytes, 100);
	read(fd, bytes, 100);
}

static void write_every_way(int fd)
{
	struct iovec two[2] = { { bytes, 300 }, { bytes, 4096 } };
	write(fd, bytes, 65536);
	write(fd, bytes, 1);
	write(fd, bytes, 0);
	pwrite(fd, bytes, 5000, 100);
	pwrite(fd, bytes, 5, -1);
	writev(fd, two, 2);
	pwritev(fd, two, 2, 70000);
	pwritev2(fd, two, 2, 10, RWF_DSYNC);
	pwritev2(fd, two, 2, -1, 0);
	write(fd, NULL + 1, 4096);
	read(fd, bytes, 10);
}

static void copy_every_way(int from, int to)
{
	int pipes[2];
	off_t at = 4096;
	loff_t in = 100, out = 200;
	must(pipe(pipes));
	lseek(from, 0, SEEK_SET);
	lseek(to, 0, SEEK_SET);
	sendfile(to, from, NULL, 6000);
	sendfile(to, from, &at, 6000);
	copy_file_range(from, NULL, to, NULL, 3000, 0);
	copy_file_range(from, &in, to, &out, 5000, 0);
	splice(from, NULL, pipes[1], NULL, 4000, 0);
	splice(pipes[0], NULL, to, NULL, 4000, 0);
	splice(from, &in, pipes[1], NULL, 500, 0);
	splice(pipes[0], NULL, to, &out, 500, 0);
	/* Nothing of it is about a file. */
	write(pipes[1], bytes, 10);
	read(pipes[0], bytes, 10);
	close(pipes[0]);
	close(pipes[1]);
	read(from, bytes, 10);
	write(to, bytes, 10);
}

static void open_every_way(const char *dir)
{
	struct open_how how = { .flags = O_RDWR | O_CREAT, .mode = 0600 };
	char path[4096];
	int at = must(open(dir, O_RDONLY | O_DIRECTORY));
	close(must(syscall(SYS_open, "made", O_RDWR | O_CREAT | O_EXCL, 0644)));
	syscall(SYS_open, "made", O_RDWR | O_CREAT | O_EXCL, 0644);
	close(must(syscall(SYS_creat, "made", 0644)));
	close(must(openat(at, "made", O_RDONLY)));
	close(must(syscall(SYS_openat2, at, "second", &how, sizeof(how))));
	snprintf(path, sizeof(path), "%s/./made", dir);
	close(must(open(path, O_WRONLY | O_TRUNC | O_NONBLOCK)));
	open("/nowhere/at/all", O_RDONLY);
	openat(at, "not-here", O_RDONLY);
	open("made/below-a-file", O_RDONLY);
	open("/proc/self/mem/x", O_RDONLY);
	open("", O_RDONLY);
	int shared = must(open("made", O_RDWR));
	int copy = must(dup(shared));
	write(shared, "abc", 3);
	write(copy, "def", 3);
	pread(copy, bytes, 6, 0);
	close(shared);
	write(must(dup2(copy, 60)), "ghi", 3);
	close(copy);
	close(60);
	close(60);
	close(at);
}

static void look_up(const char *dir)
{
	struct stat st;
	struct statx stx;
	char path[4096];
	int at = must(open(dir, O_RDONLY | O_DIRECTORY));
	snprintf(path, sizeof(path), "%s/made", dir);
	syscall(SYS_stat, path, &st);
	syscall(SYS_stat, "absent", &st);
	syscall(SYS_lstat, "made", &st);
	syscall(SYS_lstat, "made/x", &st);
	fstatat(at, "made", &st, 0);
	fstatat(at, "absent", &st, AT_SYMLINK_NOFOLLOW);
	statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &stx);
	statx(at, "absent", 0, STATX_BASIC_STATS, &stx);
	syscall(SYS_access, "made", R_OK);
	syscall(SYS_access, "absent", R_OK);
	syscall(SYS_faccessat, at, "made", X_OK);
	syscall(SYS_faccessat2, at, "absent", F_OK, 0);
	syscall(SYS_readlink, "made", path, sizeof(path));
	symlink("made", "soft");
	syscall(SYS_readlink, "soft", path, sizeof(path));
	readlinkat(at, "soft", path, sizeof(path));
	readlinkat(at, "absent", path, sizeof(path));
	stat("soft/../made", &st);
	close(at);
}

static void name(const char *dir)
{
	int at = must(open(dir, O_RDONLY | O_DIRECTORY));
	close(must(open("one", O_CREAT | O_WRONLY, 0600)));
	syscall(SYS_rename, "one", "two");
	syscall(SYS_rename, "one", "three");
	syscall(SYS_renameat, at, "two", AT_FDCWD, "three");
	syscall(SYS_renameat2, at, "three", at, "four", RENAME_NOREPLACE);
	syscall(SYS_link, "four", "five");
	syscall(SYS_link, "four", "five");
	linkat(at, "four", at, "six", 0);
	syscall(SYS_symlink, "where/ever", "seven");
	symlinkat("four", at, "eight");
	syscall(SYS_mkdir, "below", 0700);
	syscall(SYS_mkdir, "below", 0700);
	mkdirat(at, "below/deeper", 0700);
	unlinkat(at, "below/deeper", AT_REMOVEDIR);
	syscall(SYS_rmdir, "below");
	syscall(SYS_rmdir, "below");
	syscall(SYS_unlink, "five");
	syscall(SYS_unlink, "five");
	unlinkat(at, "six", 0);
	close(at);
}

static void advise(int fd, const char *path)
{
	posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
	posix_fadvise(fd, 4096, 8192, POSIX_FADV_WILLNEED);
	posix_fadvise(fd, 0, 4096, POSIX_FADV_DONTNEED);
	posix_fadvise(fd, 0, 0, 77);
	readahead(fd, 0, 16384);
	fsync(fd);
	fdatasync(fd);
	sync_file_range(fd, 0, 4096, SYNC_FILE_RANGE_WRITE);
	syncfs(fd);
	ftruncate(fd, 50000);
	truncate(path, 60000);
	truncate("absent", 1);
	fallocate(fd, FALLOC_FL_KEEP_SIZE, 4096, 8192);
	fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4096);
	fallocate(fd, 0, -1, 4096);
	ftruncate(fd, -1);
}

static void map(int fd)
{
	char *map = mmap(NULL, 5 * 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4096);
	if (map == NONE)
		must(-1);
	madvise(map, 8192, MADV_WILLNEED);
	madvise(map + 4096, 4096, MADV_RANDOM);
	map[5000] = 1;
	msync(map, 8192, MS_SYNC);
	munmap(map + 4096, 4096);
	madvise(map + 2 * 4096, 4096, MADV_DONTNEED);
	munmap(map, 5 * 4096);
	mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 1);
	map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	munmap(map, 4096);
	/* Of no file. */
	map = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(map, 4096, MADV_DONTNEED);
	munmap(map, 4096);
}

static void append(void)
{
	int fd = must(open("appended", O_CREAT | O_WRONLY | O_APPEND, 0600));
	write(fd, bytes, 100);
	write(fd, bytes, 100);
	pwrite(fd, bytes, 100, 0);
	close(fd);
	fd = must(open("synced", O_CREAT | O_WRONLY | O_DSYNC, 0600));
	write(fd, bytes, 100);
	close(fd);
}

static sem_t begun;

struct thread {
	const char *dir;
	int files;
	pthread_t id;
};

static void *work(void *argument)
{
	struct thread *t = argument;
	char from[4096], to[4096];
	access("/a-thread-begins", F_OK);
	sem_post(&begun);
	snprintf(from, sizeof(from), "%s/from-%d", t->dir, t->files);
	snprintf(to, sizeof(to), "%s/to-%d", t->dir, t->files);
	int in = must(open(from, O_RDWR | O_CREAT | O_TRUNC, 0600));
	int out = must(open(to, O_RDWR | O_CREAT | O_TRUNC, 0600));
	for (int turn = 0; turn < 20; turn++) {
		write_every_way(in);
		read_every_way(in);
		copy_every_way(in, out);
	}
	advise(out, to);
	map(in);
	close(in);
	close(out);
	return NULL;
}

static void run(char *self)
{
	char *words[] = { self, "child", NULL };
	pid_t child = must(fork());
	if (!child) {
		execv("/nowhere/program", words);
		execv("/etc/passwd", words);
		execv(self, words);
		_exit(1);
	}
	waitpid(child, NULL, 0);
}

int main(int count, char **words)
{
	if (count > 1 && !strcmp(words[1], "child")) {
		int fd = open("made", O_RDONLY);
		read(fd, bytes, 2);
		/* A child has its parent's open files, and their position. */
		if (!fork()) {
			read(fd, bytes, 2);
			_exit(0);
		}
		wait(NULL);
		read(fd, bytes, 2);
		return 0;
	}
	const char *dir = words[1];
	must(chdir(dir));
	struct thread threads[2] = { { dir, 0 }, { dir, 1 } };
	sem_init(&begun, 0, 0);
	for (int i = 0; i < 2; i++) {
		must(-pthread_create(&threads[i].id, NULL, work, &threads[i]));
		/* So that threads begin in their order. */
		sem_wait(&begun);
	}
	open_every_way(dir);
	look_up(dir);
	name(dir);
	append();
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i].id, NULL);
	sync();
	/* Of nothing that is open. */
	read(99, bytes, 10);
	close(99);
	fsync(99);
	run(words[0]);
	return 0;
}
