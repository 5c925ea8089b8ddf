/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Linux AIO where it is not followed: kernels before 6.2 give a chain of calls 512 bytes of stack and no bpf_loop(), which
 * the walk over what is submitted does not fit into. How many requests were accepted is counted, and said to be missing.
 */

static __noinline int enter_aio(struct task_state *s, const struct arguments *args, u32 kind)
{
	if (s && kind == HS_AIO_SUBMIT) {
		s->in.inode = s->out.inode = 0;
		s->kind = kind;
		s->start_ns = 0;
	}
	return 0;
}

static __noinline int exit_aio(struct task_state *s, u32 kind, s64 ret, u64 ns)
{
	if (ret > 0)
		ATOMIC_ADD(&g.aio_unseen, ret);
	return 0;
}
