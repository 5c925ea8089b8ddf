/*
 * Makes functions at run time, each in a mapping of its own, and says in a perf
 * map what they are called: "rx" or "rwx" with frame pointers, "python" as
 * CPython makes its trampolines.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef int function(void);
typedef int caller(long, long, long, function *);

static char buffer[64];
static int file;

__attribute__((noinline, noclone)) int wrap(void) {
  int got = pread(file, buffer, sizeof(buffer), 0);
  __asm__ volatile("" ::: "memory");
  return got + 1;
}

/* push rbp; mov rbp, rsp; call rcx; pop rbp; ret */
static const unsigned char framed[] = {0x55, 0x48, 0x89, 0xe5,
                                       0xff, 0xd1, 0x5d, 0xc3};

/* sub rsp, 8; call rcx; add rsp, 8; ret */
static const unsigned char trampoline[] = {0x48, 0x83, 0xec, 0x08, 0xff, 0xd1,
                                           0x48, 0x83, 0xc4, 0x08, 0xc3};

static caller *make(int number, const char *kind, FILE *map) {
  int is_writable = !strcmp(kind, "rwx"), is_python = !strcmp(kind, "python");
  const unsigned char *bytes = is_python ? trampoline : framed;
  size_t length = is_python ? sizeof(trampoline) : sizeof(framed);
  int protection = PROT_READ | PROT_WRITE | (is_writable ? PROT_EXEC : 0);
  /* A page that is none lies between it and the one before. */
  unsigned char *code =
      mmap(NULL, 8192, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (code == MAP_FAILED || mprotect(code, 4096, PROT_NONE))
    exit(2);
  code += 4096;
  memcpy(code, bytes, length);
  if (!is_writable && mprotect(code, 4096, PROT_READ | PROT_EXEC))
    exit(3);
  fprintf(map, "%lx %zx %smade_%d%s\n", (unsigned long)code, length,
          is_python ? "py::" : "", number, is_python ? ":made.py" : "");
  fflush(map);
  return (caller *)(void *)code;
}

int main(int count, char **words) {
  char name[64];
  snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
  FILE *map = fopen(name, "w");
  file = count > 3 ? open(words[1], O_RDONLY) : -1;
  if (file < 0 || !map)
    return 1;
  for (int number = 0; number < atoi(words[2]); number++) {
    caller *made = make(number, words[3], map);
    made(0, 0, 0, wrap);
    made(0, 0, 0, wrap);
  }
  /* Whoever finds the names may read it after this has ended. */
  puts(name);
  return 0;
}
