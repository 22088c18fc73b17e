import re

import pytest
import tensorflow as tf

from seqzoo.zoo.commands import main
from seqzoo.zoo.training import device


def test_one_line_names_the_device_and_its_memory():
    found = re.fullmatch(
        r"The active device is CPU:0: (.+), (\d+) threads "
        r"free:(\d+)M, used:(\d+)M, total:(\d+)M, free/total:(\S+)",
        device.describe(),
    )
    name, threads, free, used, total, share = found.groups()
    assert name.strip() and int(threads) >= 1
    assert int(total) - 2 <= int(free) + int(used) <= int(total)
    assert float(share) == pytest.approx(int(free) / int(total), abs=0.001)


def test_a_gpu_tells_its_own_memory(monkeypatch):
    config = tf.config
    monkeypatch.setattr(config, "list_logical_devices", lambda kind: ["GPU:0"])
    monkeypatch.setattr(config, "list_physical_devices", lambda kind: ["GPU:0"])
    monkeypatch.setattr(
        config.experimental,
        "get_device_details",
        lambda gpu: {"device_name": "A100"},
    )
    monkeypatch.setattr(
        config.experimental, "get_memory_info", lambda name: {"current": 3 << 20}
    )
    assert device.describe() == "The active device is GPU:0: A100 used:3M"


@pytest.mark.parametrize(
    "words",
    [
        ["acoustic/dnn", "tr", "cv", "lang", "ali", "ali_cv", "run"],
        ["acoustic/dbn", "tr", "run"],
    ],
)
@pytest.mark.parametrize("flag", ["--skip_cuda_check=false", "--use_gpu=yes"])
def test_training_stops_where_a_gpu_is_wanted_and_none_is_there(
    monkeypatch, capsys, words, flag
):
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind=None: [])
    assert main.main(["train", *words, flag]) == 1
    assert f"{flag}: there is no GPU" in capsys.readouterr().err
