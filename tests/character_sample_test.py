"""`seqzoo sample` of models of characters, by the files of torch-rnn."""

import numpy as np
import pytest

from seqzoo.datasets import torch_writer
from seqzoo.zoo.checkpoints import torch_rnn, torch_scores
from seqzoo.zoo.commands import main
from seqzoo.zoo.language import sample
from tests.torch_logs import make_checkpoint

TOKENS = ["a", "\n", " ", "é", "b"]


def seqzoo(capsys, *words):
    """What the command prints."""
    assert main.main(["sample", *map(str, words)]) == 0
    return capsys.readouterr().out


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = str(tmp_path_factory.mktemp("cv") / "checkpoint.t7")
    torch_writer.write(path, make_checkpoint(tokens=TOKENS))
    return path


def replay(path, count, temperature=1.0, seed=1, prompt=""):
    """The text by Torch's layers in NumPy, each character from all before it."""
    layers = torch_rnn.read(path).layers
    numbers = sample.uniform_numbers(seed)
    ids = [1 + TOKENS.index(one) for one in prompt]
    for _ in range(count):
        shares = np.full(len(TOKENS), 0.2)
        if ids:
            logs = [
                torch_scores.target_log_probs(
                    layers, np.array(ids), np.array([*ids[1:], following])
                )[-1]
                for following in range(1, 6)
            ]
            shares = np.exp(np.array(logs) / temperature)
            shares /= shares.sum()
        ids.append(1 + int(np.searchsorted(np.cumsum(shares), next(numbers))))
    return "".join(TOKENS[number - 1] for number in ids)


def test_the_first_is_any_and_the_state_goes_on(path, capsys):
    found = seqzoo(capsys, path, "--nsample=40", "--temperature=3", "--seed=4")
    wanted = replay(path, 40, 3, 4)
    assert found == wanted + "\n" * (wanted[-1] != "\n")
    assert "\n" in wanted[:-1] and " " in wanted
    firsts = {seqzoo(capsys, path, "--nsample=1", f"--seed={n}") for n in range(9)}
    assert len(firsts) > 2


def test_behind_a_prompt(path, capsys):
    words = path, "--prompt= é\na", "--nsample=20"
    wanted = replay(path, 20, prompt=" é\na")
    assert seqzoo(capsys, *words).rstrip("\n") == wanted.rstrip("\n")
    assert wanted.startswith(" é\na") and len(wanted) == 24


def test_a_run_folder(path, tmp_path, capsys):
    assert main.main(["import", "torch", path, str(tmp_path / "run")]) == 0
    capsys.readouterr()
    found = seqzoo(capsys, tmp_path / "run", "--nsample=30", "--seed=2")
    assert found == seqzoo(capsys, path, "--nsample=30", "--seed=2")


@pytest.mark.parametrize(
    "words, message",
    [
        (["--prompt=abc"], "--prompt: the model does not know the character 'c'"),
        (["--exclude_unknown"], "leave --exclude_unknown out"),
    ],
)
def test_bad_input(words, message, path, capsys):
    assert main.main(["sample", path, *words]) == 1
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    assert message in err


def test_bytes_that_make_a_character(tmp_path, capsys):
    path = str(tmp_path / "x.t7")
    torch_writer.write(path, make_checkpoint(tokens=[b"\xc3", b"\xa9", b"a"]))
    words = path, "--nsample=40", "--temperature=2"
    found = seqzoo(capsys, *words)
    assert "é" in found
    assert found.endswith("\n") and set(found[:-1]) <= {"é", "a", "\ufffd"}
