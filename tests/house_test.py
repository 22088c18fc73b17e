"""The files around the code agree with one another."""

import ast
import os
import pathlib
import re

import pytest

_ROOT = pathlib.Path(__file__).parents[1]
_FOLDERS = ("layers", "datasets", "zoo", "export")


def _text(name):
    return (_ROOT / name).read_text(encoding="utf-8")


def _requirements():
    """What setup.py asks for: name -> the extras that do, "" for the package itself."""
    (call,) = [
        node
        for node in ast.walk(ast.parse(_text("setup.py")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "setuptools.setup"
    ]
    keywords = {keyword.arg: keyword.value for keyword in call.keywords}
    wanted = {"": ast.literal_eval(keywords["install_requires"])}
    wanted |= ast.literal_eval(keywords["extras_require"])
    found = {}
    for extra, lines in wanted.items():
        for line in lines:
            found.setdefault(re.match(r"[\w.-]+", line)[0], []).append(extra)
    return found


@pytest.mark.parametrize("name, extras", _requirements().items())
def test_what_is_needed_is_explained_and_its_version_pinned(name, extras):
    assert f"| `{name}`" in _text("docs/dependencies.md")
    if extras != ["io"]:  # That extra needs another TensorFlow than is tested.
        assert re.search(rf"^{name}==", _text("constraints.txt"), re.M)


def test_every_folder_with_code_is_a_package():
    without = [
        str(path.parent.relative_to(_ROOT))
        for folder in _FOLDERS
        for path in (_ROOT / folder).rglob("*.py")
        if not (path.parent / "__init__.py").exists()
    ]
    assert without == []


@pytest.mark.parametrize("folder", _FOLDERS)
def test_every_folder_is_typed(folder):
    assert (_ROOT / folder / "py.typed").exists()


@pytest.mark.skipif("TEST_SRCDIR" in os.environ, reason="Bazel sees one test at a time")
def test_the_quick_tests_of_bazel_are_there():
    quick = re.findall(r'^ +":(\w+_test)",$', _text("BUILD"), re.M)
    assert quick
    assert [n for n in quick if not (_ROOT / "tests" / f"{n}.py").exists()] == []
