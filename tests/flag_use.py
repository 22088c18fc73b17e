"""Finds flags that are defined and never read: they would be accepted for nothing."""

import ast
import pathlib

from seqzoo.zoo.commands import main

_ROOT = pathlib.Path(__file__).parents[1]
_MAIN, _COMMON = "seqzoo.zoo.commands.main", "seqzoo.zoo.commands.common"
_VARIABLES = ("flags", "flag_values")


def unread(command: str) -> list[str]:
    """The flags of a command that no source it imports reads.

    A read is `flags.name` or `flags["name"]`, where `flags` is what `run` is given;
    the modules looked at are the command's own and, of the zoo's, those that it
    imports, and so on; in `common`, the functions that those call.
    """
    _, flag_values = main.load(command)
    trees: dict[str, ast.Module] = {}
    left = {f"seqzoo.zoo.commands.{command}_command"}
    while left:
        name = left.pop()
        if name.startswith("seqzoo.zoo.") and name not in (_MAIN, _COMMON, *trees):
            trees[name] = _tree(name)
            left |= _imported(trees[name])
    trees[_MAIN] = _tree(_MAIN)
    called = {
        node.attr
        for tree in trees.values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "common"
    }
    common = [
        node
        for node in _tree(_COMMON).body
        if isinstance(node, ast.FunctionDef) and node.name in called
    ]
    read = set().union(*map(_read, [*trees.values(), *common]))
    return sorted(set(flag_values) - read)


def _tree(name: str) -> ast.Module:
    """The source of a module; empty for what is none of this package's."""
    path = _ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return ast.parse(text)


def _read(tree: ast.AST) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_flags(node.value):
            names.add(node.attr)
        elif (
            isinstance(node, ast.Subscript)
            and _is_flags(node.value)
            and isinstance(node.slice, ast.Constant)
        ):
            names.add(str(node.slice.value))
    return names


def _is_flags(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in _VARIABLES


def _imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
            names.add(node.module)
    return names
