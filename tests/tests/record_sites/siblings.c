/* Three functions that call one another's like, as deep on the stack: what tells them apart is who called. */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static char buffer[64];

APART int wrap(int file)
{
	int got = pread(file, buffer, sizeof(buffer), 0);
	__asm__ volatile("" ::: "memory");
	return got + 1;
}

APART int first(int file)
{
	int got = wrap(file);
	__asm__ volatile("" ::: "memory");
	return got + 1;
}

APART int second(int file)
{
	int got = wrap(file);
	__asm__ volatile("" ::: "memory");
	return got + 1;
}

APART int third(int file)
{
	int got = wrap(file);
	__asm__ volatile("" ::: "memory");
	return got + 1;
}

int main(int count, char **words)
{
	int file = count > 2 ? open(words[1], O_RDONLY) : -1, rounds = count > 2 ? atoi(words[2]) : 0;
	if (file < 0 || !rounds)
		return 1;
	for (int round = 0; round < rounds; round++) {
		first(file);
		second(file);
		if (round % 2)
			third(file);
	}
	return 0;
}
