/*
 * elfutils 0.192 (Debian 13, Ubuntu 25.04) left two internal functions out of its static library,
 * https://sourceware.org/bugzilla/show_bug.cgi?id=32293. build.rs links these with that version. They are weak, as a
 * distribution may have mended it. The tree's root is the first member of the structure; its lock, where there is one,
 * needs no more than the zeros it starts with, for hotset reads objects on one thread.
 */
#define _GNU_SOURCE
#include <search.h>
#include <stddef.h>

struct tree {
	void *root;
};

#define WEAK __attribute__((weak))

WEAK void eu_search_tree_init(struct tree *tree);
WEAK void eu_search_tree_fini(struct tree *tree, void (*free_node)(void *));

void eu_search_tree_init(struct tree *tree)
{
	tree->root = NULL;
}

void eu_search_tree_fini(struct tree *tree, void (*free_node)(void *))
{
	tdestroy(tree->root, free_node);
	tree->root = NULL;
}
