"""Finds flags that are defined and never read: they would be accepted for nothing."""

import ast
import pathlib
from collections.abc import Iterable, Sequence

from seqzoo.zoo import registry
from seqzoo.zoo.commands import main

_ROOT = pathlib.Path(__file__).parents[1]
_MAIN, _COMMON = "seqzoo.zoo.commands.main", "seqzoo.zoo.commands.common"
_VARIABLES = ("flags", "flag_values")


def unread(command: str, words: Sequence[str] = ()) -> list[str]:
    """The flags of a command that no source it imports reads.

    A read is `flags.name` or `flags["name"]`, where `flags` is what `run` is given;
    the modules looked at are the command's own and, of the zoo's, those that it
    imports, and so on; in `common`, the functions that those call. A command may also
    name its flags in text outside of `define`; and where it takes them by the names of
    a dataclass's fields (`getattr(flags, field.name)`), a field that is read is a read
    of its flag. A command that asks the registry for recipes imports those of all
    models. Another name of a flag needs no reading.
    """
    module, flag_values = main.load(command, words)
    own = module.__name__
    trees: dict[str, ast.Module] = {}
    left = {own}
    while left:
        name = left.pop()
        if name.startswith("seqzoo.zoo.") and name not in (_MAIN, _COMMON, *trees):
            trees[name] = _tree(name)
            left |= _imported(trees[name])
            if any(_asks_for_recipes(node) for node in ast.walk(trees[name])):
                left |= {entry.recipe for entry in registry.MODELS.values()}
    trees[_MAIN] = _tree(_MAIN)
    everywhere = [node for tree in trees.values() for node in ast.walk(tree)]
    called = {
        node.attr
        for node in everywhere
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "common"
    }
    for function in _tree(_COMMON).body:
        if isinstance(function, ast.FunctionDef) and function.name in called:
            everywhere += ast.walk(function)
    read = _read(everywhere) | _texts(trees[own])
    if any(_by_field(node) for node in ast.walk(trees[own])):
        read |= _fields(everywhere) & _attributes(everywhere)
    aliases = {f for f in flag_values if "Alias" in type(flag_values[f]).__name__}
    return sorted(set(flag_values) - aliases - read)


def _asks_for_recipes(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) == "registry.recipe"


def _tree(name: str) -> ast.Module:
    """The source of a module; empty for what is none of this package's."""
    path = _ROOT.joinpath(*name.split(".")[1:]).with_suffix(".py")
    text = path.read_text(encoding="utf-8") if path.exists() else ""
    return ast.parse(text)


def _read(nodes: Iterable[ast.AST]) -> set[str]:
    names: set[str] = set()
    for node in nodes:
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


def _texts(tree: ast.Module) -> set[str]:
    """The strings of a module, but for those in its `define`."""
    return {
        node.value
        for top in tree.body
        if not (isinstance(top, ast.FunctionDef) and top.name == "define")
        for node in ast.walk(top)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }


def _by_field(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Call)
        and ast.unparse(node.func) == "getattr"
        and _is_flags(node.args[0])
        and not isinstance(node.args[1], ast.Constant)
    )


def _fields(nodes: Iterable[ast.AST]) -> set[str]:
    """The names of the fields of all dataclasses."""
    return {
        field.target.id
        for node in nodes
        if isinstance(node, ast.ClassDef)
        for field in node.body
        if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
    }


def _attributes(nodes: Iterable[ast.AST]) -> set[str]:
    """What is read as `something.name`, `something` not being the flags."""
    return {
        node.attr
        for node in nodes
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Load)
        and not _is_flags(node.value)
    }


def _imported(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
            names.add(node.module)
    return names
