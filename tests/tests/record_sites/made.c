/* Makes functions at run time, each in a mapping of its own, and says in a perf map what they are called. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static char buffer[64];
static int file;

__attribute__((noinline, noclone)) int wrap(void)
{
	int got = pread(file, buffer, sizeof(buffer), 0);
	__asm__ volatile("" ::: "memory");
	return got + 1;
}

/* push rbp; mov rbp, rsp; mov rax, wrap; call rax; pop rbp; ret */
static const unsigned char before[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8 }, after[] = { 0xff, 0xd0, 0x5d, 0xc3 };

static int (*make(int number, int writable, FILE *map))(void)
{
	int (*to)(void) = wrap;
	int protection = PROT_READ | PROT_WRITE | (writable ? PROT_EXEC : 0);
	/* A page that is none lies between it and the one before. */
	unsigned char *code = mmap(NULL, 8192, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code == MAP_FAILED || mprotect(code, 4096, PROT_NONE))
		exit(2);
	code += 4096;
	memcpy(code, before, sizeof(before));
	memcpy(code + sizeof(before), &to, sizeof(to));
	memcpy(code + sizeof(before) + sizeof(to), after, sizeof(after));
	if (!writable && mprotect(code, 4096, PROT_READ | PROT_EXEC))
		exit(3);
	fprintf(map, "%lx %zx made_%d\n", (unsigned long)code, sizeof(before) + sizeof(to) + sizeof(after), number);
	fflush(map);
	return (int (*)(void))(void *)code;
}

int main(int count, char **words)
{
	char name[64];
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	FILE *map = fopen(name, "w");
	file = count > 3 ? open(words[1], O_RDONLY) : -1;
	if (file < 0 || !map)
		return 1;
	for (int number = 0; number < atoi(words[2]); number++) {
		int (*made)(void) = make(number, !strcmp(words[3], "rwx"), map);
		made();
		made();
	}
	/* Whoever finds the names may read it after this has ended. */
	puts(name);
	return 0;
}
