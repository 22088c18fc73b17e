"""The learning rates that Torch's scripts print, epoch by epoch."""

import json
import pathlib

import pytest

from seqzoo.zoo.language import learn_rate
from seqzoo.zoo.language.train_options import LanguageTrainOptions

_FILES = sorted(
    (pathlib.Path(__file__).parent / "goldens" / "torch").glob("lr_schedule*.json")
)
_CASES = [
    pytest.param(case, id=f"{path.stem}-{name}")
    for path in _FILES
    for name, case in json.loads(path.read_text()).items()
]


@pytest.mark.parametrize("case", _CASES)
def test_golden_torch_learning_rates(case):
    schedule = ""
    if "epochs" in case:
        pairs = zip(case["epochs"], case["values"], strict=True)
        schedule = ",".join(f"[{epoch}]={rate}" for epoch, rate in pairs)
    options = LanguageTrainOptions(
        startlr=case["startlr"],
        minlr=case["minlr"],
        saturate=case.get("saturate", 400),
        schedule=f"{{{schedule}}}",
    )
    rates = [options.startlr]
    while len(rates) < len(case["lr"]):
        rates.append(learn_rate.after(len(rates), rates[-1], options))
    assert len(rates) > 5
    assert rates == case["lr"]
