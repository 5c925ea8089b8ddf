"""Analyses of a fleet: which workloads waste memory, which are starved, what each limit should be."""
