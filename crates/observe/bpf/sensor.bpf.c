// SPDX-License-Identifier: GPL-2.0
/*
 * The sensor: exact page-cache accounting from tracepoints alone. Compiled three times: as it stands for kernels that have
 * the read-only BTF cast (6.2), with HOTSET_COMPAT for older ones, and with HOTSET_NO_FETCH besides for those before 5.12.
 */
#include "include/account.bpf.h"
#include "lookup.bpf.h"
#include "direct.bpf.h"
#include "request.bpf.h"
#ifdef HOTSET_COMPAT
#include "aio_unseen.bpf.h"
#else
#include "aio.bpf.h"
#include "aio_submit.bpf.h"
#endif
#include "other.bpf.h"
#include "syscall.bpf.h"
#include "cache.bpf.h"
#include "fault.bpf.h"
#include "block.bpf.h"
#include "uring.bpf.h"
#include "task.bpf.h"
#include "again.bpf.h"

char LICENSE[] SEC("license") = "GPL";
