"""Where the learn rates of a component's parameters are."""

from __future__ import annotations

import dataclasses
from typing import Any

_ENDING = "learn_rate_coef"


def attributes(component: Any) -> list[str]:
    """The attributes that hold its learn rates, relative to the trainer's.

    `<MultiBasisComponent>` has a factor for its selector too, which is none of them.
    """
    return [
        field.name
        for field in dataclasses.fields(component)
        if field.name.endswith(_ENDING) and not field.name.startswith("selector")
    ]


def attribute_of(component: Any, parameter: str) -> str:
    """The attribute for one of `component.parameters()`."""
    for known in (f"{parameter}_{_ENDING}", f"bias_{_ENDING}"):
        own = known.startswith(parameter)
        bias = parameter.endswith("bias") or "peephole" in parameter
        if hasattr(component, known) and (own or bias):
            return known
    return _ENDING


def frozen_parameters(component: Any) -> int:
    """How many of its parameters have a learn rate of 0, in networks within it too."""
    nets = getattr(component, "nets", [])
    if nets:
        return sum(
            frozen_parameters(nested) for net in nets for nested in net.components
        )
    if not component.num_parameters():
        return 0
    return sum(
        array.size
        for name, array in component.parameters().items()
        if not getattr(component, attribute_of(component, name))
    )
