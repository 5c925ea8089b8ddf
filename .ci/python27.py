"""python27.py FILE…: refuses what Python 2.7 cannot parse: the probe is for every Python from there on, and CI has no Python 2.

Named are the constructs that came later; what both can parse and only one knows at run time is not seen here.
"""

import ast
import pathlib
import sys

NEWER = (
    ast.JoinedStr, ast.NamedExpr, ast.AnnAssign, ast.Nonlocal, ast.YieldFrom, ast.MatMult,
    ast.AsyncFunctionDef, ast.AsyncFor, ast.AsyncWith, ast.Await,
)


def is_newer(node):
    if isinstance(node, ast.arguments):
        all_of = node.args + node.posonlyargs + node.kwonlyargs
        return node.posonlyargs or node.kwonlyargs or any(one.annotation for one in all_of)
    if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
        return any(isinstance(part, ast.Starred) for part in node.elts)
    if isinstance(node, ast.Dict):
        return None in node.keys
    if isinstance(node, ast.Call):
        unpacked = [isinstance(word, ast.Starred) for word in node.args]
        return True in unpacked[:-1] or [word.arg for word in node.keywords].count(None) > 1
    if isinstance(node, ast.ClassDef):
        return node.keywords
    return isinstance(node, NEWER) or getattr(node, "returns", None) or getattr(node, "cause", None)


def main():
    for path in map(pathlib.Path, sys.argv[1:]):
        text = path.read_bytes()
        if not text.isascii() and b"coding: utf-8" not in b"".join(text.splitlines()[:2]):
            sys.exit(f"{path}: its first lines must name the encoding, or it must be ASCII, for Python 2.7")
        for node in ast.walk(ast.parse(text, path)):
            if is_newer(node):
                line = getattr(node, "lineno", None) or ast.unparse(node)
                sys.exit(f"{path}:{line}: Python 2.7 cannot parse this {type(node).__name__}")


main()
