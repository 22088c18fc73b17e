"""What a Torch7 object file holds, as Python values."""

import dataclasses
from typing import Any


@dataclasses.dataclass(eq=False)
class TorchObject:
    """An object of a Torch class that is not a tensor, such as a module of `nn`."""

    class_name: str
    """As Torch names it: `nn.Linear`."""

    fields: dict[Any, Any] = dataclasses.field(default_factory=dict, repr=False)
    """Its table."""

    def __getitem__(self, name: str) -> Any:
        return self.fields[name]

    def get(self, name: str, default: Any = None) -> Any:
        """The field, or `default` where there is none."""
        return self.fields.get(name, default)


@dataclasses.dataclass(eq=False)
class TorchFunction:
    """A Lua function: its byte code, which is never run."""

    code: bytes = dataclasses.field(repr=False)
    """As Lua's string.dump gives it."""

    upvalues: Any = dataclasses.field(default=None, repr=False)
    """The table of its upvalues."""


class TableKey:
    """A key of a Lua table that is neither number nor string.

    Python takes `True` and `1` for one key and tables for none. So such a key
    stands in this: booleans are equal by value, objects only to themselves.

    Args:
        value: the key itself.
    """

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TableKey):
            return False
        if isinstance(self.value, bool) and isinstance(other.value, bool):
            return self.value == other.value
        return self.value is other.value

    def __hash__(self) -> int:
        if isinstance(self.value, bool):
            return hash((TableKey, self.value))
        return id(self.value)

    def __repr__(self) -> str:
        kind = type(self.value).__name__
        return f"TableKey({self.value if isinstance(self.value, bool) else kind})"


def as_list(value: Any) -> list[Any] | None:
    """A table as a list; None if it is none.

    An empty table is read as `{}`, and one with itself inside stays a dict:
    where a list is expected, both may be one.
    """
    if isinstance(value, list):
        return value
    if not isinstance(value, dict):
        return None
    if not all(i in value for i in range(1, len(value) + 1)):
        return None
    return [value[i] for i in range(1, len(value) + 1)]
