/* A probe of hotset for C: one job, one line of JSON. docs/probes.md has the contract. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_REPETITIONS = 100000, MOST_FILES = 1000, WARM_UPS = 3 };

/* What the contract asks for. `calls` is the inside of a JSON object. */
struct answer {
    uint64_t bytes, operations;
    char calls[128];
    const char *more;
    uint64_t *times;
    size_t repetitions;
};

static char **words;

static void die(const char *what, const char *about)
{
    fprintf(stderr, errno ? "%s: %s: %s\n" : "%s: %s\n", what, about, strerror(errno));
    exit(1);
}

/* The value of a word; NULL where it isn't there. */
static const char *word(const char *key)
{
    size_t length = strlen(key);
    for (char **each = words; *each; each++)
        if (!strncmp(*each, key, length) && (*each)[length] == '=')
            return *each + length + 1;
    return NULL;
}

static const char *need(const char *key)
{
    const char *value = word(key);
    if (!value)
        die(key, "this word is missing");
    return value;
}

static uint64_t number(const char *key)
{
    const char *value = need(key);
    char *end;
    errno = 0;
    uint64_t found = strtoull(value, &end, 10);
    if (errno || *end || end == value || *value == '-')
        die(key, "is no whole number");
    return found;
}

static uint64_t bounded(const char *key, uint64_t most)
{
    uint64_t found = number(key);
    if (found > most)
        die(key, "is too large");
    return found;
}

static uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void *allocate(size_t bytes)
{
    void *memory = calloc(bytes ? bytes : 1, 1);
    if (!memory)
        die("memory", "is not there");
    return memory;
}

/* The path place/prefix000suffix and so on. */
static char *path_in(const char *place, const char *prefix, size_t number, const char *suffix)
{
    char *path = NULL;
    int length = asprintf(&path, "%s/%s%03zu%s", place, prefix, number, suffix);
    if (length < 0)
        die("memory", "is not there");
    if (length >= PATH_MAX)
        die(place, "is too long");
    return path;
}

/* The files dir/prefix000suffix and so on. */
static char **paths_of(const char *suffix, size_t *count)
{
    *count = bounded("count", MOST_FILES);
    char **paths = allocate(*count * sizeof *paths);
    for (size_t i = 0; i < *count; i++)
        paths[i] = path_in(need("dir"), need("prefix"), i, suffix);
    return paths;
}

/* Where a name is looked for, in order: before/d000 and so on, and at last dir. */
static const char **places_of(size_t *count)
{
    size_t before = word("directories") ? bounded("directories", MOST_FILES) : 0;
    const char **places = allocate((before + 1) * sizeof *places);
    for (size_t i = 0; i < before; i++)
        places[i] = path_in(need("before"), "d", i, "");
    places[before] = need("dir");
    *count = before + 1;
    return places;
}

/* The usual way: as much memory as the file is large, and one read(2). */
static uint64_t read_binary(const char *path)
{
    struct stat stat;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &stat))
        die(path, "open or fstat");
    char *memory = malloc(stat.st_size ? (size_t)stat.st_size : 1);
    if (!memory)
        die(path, "is too large for memory");
    uint64_t done = 0;
    for (ssize_t got = 1; got > 0 && done < (uint64_t)stat.st_size; done += (uint64_t)(got > 0 ? got : 0)) {
        got = read(fd, memory + done, (size_t)stat.st_size - done);
        if (got < 0)
            die(path, "read");
    }
    free(memory);
    close(fd);
    return done;
}

static uint64_t read_stdio(const char *path)
{
    struct stat stat;
    FILE *file = fopen(path, "rb");
    if (!file || fstat(fileno(file), &stat))
        die(path, "fopen or fstat");
    char *memory = malloc(stat.st_size ? (size_t)stat.st_size : 1);
    if (!memory)
        die(path, "is too large for memory");
    uint64_t done = fread(memory, 1, (size_t)stat.st_size, file);
    if (ferror(file))
        die(path, "fread");
    free(memory);
    fclose(file);
    return done;
}

typedef uint64_t reader(const char *path);

static reader *reader_of_how(void)
{
    const char *how = word("how");
    if (!how || !strcmp(how, "binary"))
        return read_binary;
    if (strcmp(how, "stdio"))
        die("how", "is neither binary nor stdio");
    return read_stdio;
}

static void job_about(struct answer *answer)
{
    static char more[PATH_MAX + 256], self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length < 0)
        die("/proc/self/exe", "readlink");
    snprintf(more, sizeof more,
             ",\"executable\":\"%s\",\"supports\":[\"read:binary\",\"read:stdio\",\"write\",\"load:dlopen\","
             "\"readall:binary\",\"readall:stdio\",\"exists\"]",
             self);
    answer->more = more;
}

static void job_read(struct answer *answer)
{
    const char *path = need("file");
    reader *reader = reader_of_how();
    answer->repetitions = bounded("count", MOST_REPETITIONS);
    answer->times = allocate(answer->repetitions * sizeof *answer->times);
    // Another file, so that the first timed part has none of the program's own first times.
    const char *prime = word("prime");
    for (int turn = 0; prime && turn < WARM_UPS; turn++)
        reader(prime);
    for (size_t i = 0; i < answer->repetitions; i++) {
        uint64_t started = now();
        uint64_t bytes = reader(path);
        answer->times[i] = now() - started;
        answer->bytes += bytes;
    }
    answer->operations = answer->repetitions;
    snprintf(answer->calls, sizeof answer->calls, "\"open\":%zu", answer->repetitions);
}

static void one_repetition(struct answer *answer, uint64_t started)
{
    uint64_t took = now() - started;
    answer->times = allocate(sizeof *answer->times);
    answer->times[0] = took;
    answer->repetitions = 1;
}

static void job_readall(struct answer *answer)
{
    size_t count;
    char **paths = paths_of(need("suffix"), &count);
    reader *reader = reader_of_how();
    uint64_t bytes = 0, started = now();
    for (size_t i = 0; i < count; i++)
        bytes += reader(paths[i]);
    one_repetition(answer, started);
    answer->bytes = bytes;
    answer->operations = count;
    snprintf(answer->calls, sizeof answer->calls, "\"open\":%zu", count);
}

static void job_exists(struct answer *answer)
{
    size_t count = bounded("count", MOST_FILES), places;
    const char **place = places_of(&places);
    char **paths = allocate(count * places * sizeof *paths);
    for (size_t i = 0; i < count * places; i++)
        paths[i] = path_in(place[i % places], need("prefix"), i / places, need("suffix"));
    uint64_t times = bounded("times", MOST_REPETITIONS), found = 0, asked = 0, started = now();
    for (uint64_t round = 0; round < times; round++)
        for (size_t i = 0; i < count; i++) {
            size_t missed = 0;
            while (missed < places && access(paths[i * places + missed], F_OK))
                missed++;
            found += missed < places;
            asked += missed < places ? missed + 1 : places;
        }
    one_repetition(answer, started);
    answer->operations = count * times;
    snprintf(answer->calls, sizeof answer->calls, "\"exists\":%" PRIu64, asked);
    static char more[64];
    snprintf(more, sizeof more, ",\"notes\":{\"found\":%" PRIu64 "}", found);
    answer->more = more;
}

static void job_load(struct answer *answer)
{
    if (strcmp(need("how"), "dlopen"))
        die("how", "is not dlopen");
    size_t count;
    char **paths = paths_of(".so", &count);
    errno = 0;
    uint64_t started = now();
    for (size_t i = 0; i < count; i++)
        if (!dlopen(paths[i], RTLD_NOW | RTLD_LOCAL)) {
            fprintf(stderr, "%s\n", dlerror());
            exit(1);
        }
    one_repetition(answer, started);
    answer->operations = count;
}

/* stdio with a buffer of the wanted size, or with none. */
/* Write calls of this process so far, as the kernel counted them; -1 where it doesn't tell. */
static int64_t write_calls(void)
{
    int64_t counted = -1;
    char line[128];
    FILE *file = fopen("/proc/self/io", "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "syscw: %" SCNd64, &counted) == 1)
            break;
    if (file)
        fclose(file);
    return counted;
}

static void job_write(struct answer *answer)
{
    uint64_t total = number("total"), piece = bounded("piece", 1 << 30), buffer = bounded("buffer", 1 << 30);
    const char *path = need("file"), *sync = word("sync");
    if (!piece)
        die("piece", "0 would write nothing");
    char *data = allocate(piece), *space = allocate(buffer);
    memset(data, 'x', piece);
    int64_t before = write_calls();
    uint64_t started = now();
    FILE *file = fopen(path, "wb");
    if (!file || setvbuf(file, buffer ? space : NULL, buffer ? _IOFBF : _IONBF, buffer))
        die(path, "fopen or setvbuf");
    for (uint64_t left = total; left; answer->operations++) {
        uint64_t now_written = left < piece ? left : piece;
        if (fwrite(data, 1, now_written, file) != now_written)
            die(path, "fwrite");
        left -= now_written;
    }
    if (fflush(file) || (sync && !strcmp(sync, "fsync") && fsync(fileno(file))) || fclose(file))
        die(path, "fflush, fsync or fclose");
    one_repetition(answer, started);
    answer->bytes = total;
    snprintf(answer->calls, sizeof answer->calls, "\"open\":1");
    static char more[64];
    if (before >= 0) {
        snprintf(more, sizeof more, ",\"write_calls\":%" PRId64, write_calls() - before);
        answer->more = more;
    }
}

static void print(const char *job, const struct answer *answer)
{
    printf("{\"probe\":\"c\",\"version\":\"%s\",\"job\":\"%s\",\"bytes\":%" PRIu64 ",\"calls\":{%s},\"operations\":%" PRIu64
           ",\"repetitions_ns\":[",
           __VERSION__, job, answer->bytes, answer->calls, answer->operations);
    for (size_t i = 0; i < answer->repetitions; i++)
        printf("%s%" PRIu64, i ? "," : "", answer->times[i]);
    printf("]%s}\n", answer->more ? answer->more : "");
    if (fflush(stdout))
        die("standard output", "write");
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(struct answer *answer);
    } jobs[] = {
        {"about", job_about},   {"read", job_read}, {"readall", job_readall},
        {"exists", job_exists}, {"load", job_load}, {"write", job_write},
    };
    words = argv + (argc > 1 ? 2 : 1);
    for (size_t i = 0; argc > 1 && i < sizeof jobs / sizeof *jobs; i++)
        if (!strcmp(argv[1], jobs[i].name)) {
            struct answer answer = {0};
            jobs[i].run(&answer);
            print(argv[1], &answer);
            return 0;
        }
    errno = 0;
    die(argc > 1 ? argv[1] : "", "there is no such job");
}
