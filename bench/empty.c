/*
 * empty EVENT… -- COMMAND [ARGUMENT…]: runs a command while a BPF program that does nothing hangs on each of these events: on a
 * tracepoint, by its name, or on "perf:TYPE:CONFIG" of every CPU, a perf event. What this costs is the least that any program costs
 * which is told of these events: no work of its own is in it. Compiled by overhead.py.
 */
#define _GNU_SOURCE
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void fail(const char *what)
{
	perror(what);
	exit(125);
}

/* return 0; */
static const struct bpf_insn nothing[] = {
	{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
	{ .code = BPF_JMP | BPF_EXIT },
};
static const size_t instructions = sizeof(nothing) / sizeof(*nothing);

/* As the sensor's programs hang there: by the types of the kernel. */
static void hang_on_tracepoint(const char *name)
{
	LIBBPF_OPTS(bpf_prog_load_opts, how, .expected_attach_type = BPF_TRACE_RAW_TP);
	int type = libbpf_find_vmlinux_btf_id(name, BPF_TRACE_RAW_TP);

	if (type < 0)
		fail(name);
	how.attach_btf_id = type;
	int program = bpf_prog_load(BPF_PROG_TYPE_TRACING, "nothing", "GPL", nothing, instructions, &how);
	if (program < 0 || bpf_raw_tracepoint_open(NULL, program) < 0)
		fail(name);
}

static void hang_on_perf_event(const char *name, unsigned type, unsigned long long config)
{
	struct perf_event_attr what = { .type = type, .size = sizeof(what), .config = config, .sample_period = 1 };
	int program = bpf_prog_load(BPF_PROG_TYPE_PERF_EVENT, "nothing", "GPL", nothing, instructions, NULL);

	if (program < 0)
		fail(name);
	for (int cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN); cpu++) {
		int event = syscall(SYS_perf_event_open, &what, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		if (event < 0 || bpf_link_create(program, event, BPF_PERF_EVENT, NULL) < 0)
			fail(name);
	}
}

int main(int argc, char **argv)
{
	int at = 1, state;

	for (; at < argc && strcmp(argv[at], "--"); at++) {
		unsigned long long config;
		unsigned type;

		if (sscanf(argv[at], "perf:%u:%llu", &type, &config) == 2)
			hang_on_perf_event(argv[at], type, config);
		else
			hang_on_tracepoint(argv[at]);
	}
	if (at + 1 >= argc) {
		fprintf(stderr, "usage: empty EVENT… -- COMMAND [ARGUMENT…]\n");
		return 125;
	}
	pid_t child = fork();
	if (child == 0) {
		execvp(argv[at + 1], argv + at + 1);
		fail(argv[at + 1]);
	}
	if (child < 0 || waitpid(child, &state, 0) < 0)
		fail("the command");
	return WIFEXITED(state) ? WEXITSTATUS(state) : 128;
}
