"""The learning rate of each epoch, as Torch's language model scripts have it."""

import re
from typing import Protocol


class Options(Protocol):
    """What the rate depends on; `LanguageTrainOptions` is one."""

    @property
    def minlr(self) -> float: ...
    @property
    def startlr(self) -> float: ...
    @property
    def saturate(self) -> int: ...
    @property
    def schedule(self) -> str: ...


def after(epoch: int, rate: float, options: Options) -> float:
    """The learning rate after an epoch, from 1, that had `rate`.

    It falls by `(startlr - minlr) / saturate` and stays at `minlr`; with a schedule it
    is what that says of the epoch, else `rate`. Sums are Torch's, digit for digit.
    """
    if schedule := parse_schedule(options.schedule):
        return schedule.get(epoch, rate)
    rate += (options.minlr - options.startlr) / options.saturate
    return max(options.minlr, rate)


def parse_schedule(text: str) -> dict[int, float]:
    """Epoch -> rate of a table like `{[5]=0.5,[8]=0.25}` or `5=0.5,8=0.25`.

    Raises:
        ValueError: if it is none.
    """
    found = {}
    body = text.strip().removeprefix("{").removesuffix("}")
    for part in filter(None, (part.strip() for part in body.split(","))):
        pair = re.fullmatch(r"\[?\s*(\d+)\s*\]?\s*=\s*([0-9.eE+-]+)", part)
        try:
            if pair is None:
                raise ValueError
            found[int(pair[1])] = float(pair[2])
        except ValueError:
            raise ValueError(
                f"schedule is {text!r}; learning rates by epoch, as "
                "{[5]=0.5,[8]=0.25}, are taken."
            ) from None
    return found
