"""The options of Torch's training scripts under the names of our flags."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from seqzoo.zoo.language.train_options import LanguageTrainOptions

# Of train.lua of torch-rnn.
_TORCH_RNN = {
    "learning_rate": "startlr",
    "max_epochs": "maxepoch",
    "batch_size": "batchsize",
    "seq_length": "seqlen",
}
_MOST_EPOCHS = 1000


def of_script(opt: Mapping[str, Any]) -> dict[str, Any]:
    """Options of noise-contrastive-estimate.lua: all of `LanguageTrainOptions`."""
    given = plain(opt)
    schedule = given.pop("schedule", "")
    found = dataclasses.asdict(LanguageTrainOptions()) | _known(given)
    found["schedule"] = _schedule(schedule)
    # Its momentum moves every row in every step.
    found["tables"] = "dense_momentum" if found["momentum"] > 0 else "sgd"
    return found


def of_torch_rnn(opt: Mapping[str, Any]) -> dict[str, Any]:
    """The same of train.lua, which has no momentum: it trains with Adam."""
    given = plain(opt)
    renamed = {name: given[old] for old, name in _TORCH_RNN.items() if old in given}
    found = dataclasses.asdict(LanguageTrainOptions(momentum=-1.0)) | _known(renamed)
    every, factor = given.get("lr_decay_every"), given.get("lr_decay_factor")
    if isinstance(every, int) and every > 0 and isinstance(factor, int | float):
        rate, steps = found["startlr"], {}
        for epoch in range(every, min(found["maxepoch"], _MOST_EPOCHS) + 1, every):
            rate *= factor
            steps[epoch] = rate
        found["schedule"] = _schedule(steps)
    return found


def plain(value: Any) -> Any:
    """What `torch_file.read` gave as values for JSON; others are left out of tables."""
    if isinstance(value, Mapping):
        pairs = {str(key): plain(one) for key, one in value.items() if _is_plain(one)}
        return pairs
    if isinstance(value, list):
        return [plain(one) for one in value if _is_plain(one)]
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _is_plain(value: Any) -> bool:
    kinds = Mapping | list | bytes | str | bool | int | float | None
    return isinstance(value, kinds)


def _known(given: Mapping[str, Any]) -> dict[str, Any]:
    """Those of `given` that are options here, and of the right type."""
    found: dict[str, Any] = {}
    for name, default in dataclasses.asdict(LanguageTrainOptions()).items():
        value = given.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float | list):
            continue
        if name == "batchsize":
            found[name] = value if isinstance(value, list) else [value]
        elif isinstance(default, float) and not isinstance(value, list):
            found[name] = float(value)
        elif isinstance(default, int | None) and isinstance(value, int):
            found[name] = value
    return found


def _schedule(value: Any) -> str:
    """Epochs and rates as the flag takes them; empty if these are none."""
    if isinstance(value, list):
        value = dict(enumerate(value, 1))
    if not isinstance(value, Mapping):
        return value if isinstance(value, str) else ""
    steps = ",".join(f"[{epoch}]={rate!r}" for epoch, rate in value.items())
    return f"{{{steps}}}" if steps else ""
