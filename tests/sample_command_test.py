"""`seqzoo sample`."""

import pytest

from seqzoo.zoo.commands import main
from seqzoo.zoo.language.sample import Sampler
from tests.small_language_models import vocabulary, write_run

WORDS = 9  # a to f, and the marks.


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    return folder / "lm", write_run(folder / "lm", WORDS)


def seqzoo(capsys, *words):
    """What the command prints."""
    assert main.main(["sample", *map(str, words)]) == 0
    return capsys.readouterr().out


def text(ids):
    """Words a sentence a line."""
    words = vocabulary(WORDS).decode(ids)
    lines = " ".join(words).replace("</S>", "\n").split("\n")
    return "\n".join(line.strip() for line in lines).strip("\n") + "\n"


def test_a_sentence_a_line(run, capsys):
    path, model = run
    found = seqzoo(capsys, path, "--nsample=40", "--temperature=0.7", "--seed=3")
    ids = list(Sampler(model, 8, 9).words(40, temperature=0.7, seed=3))
    assert found.strip("\n") + "\n" == text(ids)
    assert "\n" in found[:-1]
    assert found.count("\n") == ids.count(9) + (ids[-1] != 9)
    assert found == seqzoo(
        capsys, path, "--nsample", 40, "--temperature", 0.7, "--seed", 3
    )


def test_the_number_of_words_by_default(run, capsys):
    found = seqzoo(capsys, run[0])
    assert 199 <= len(found.split()) + found.count("\n") <= 201


def test_a_prompt_and_no_unknown_words(run, capsys):
    words = run[0], "--prompt= b  a ", "--nsample=40", "--seed=7"
    found = seqzoo(capsys, *words, "--exclude_unknown")
    assert found.startswith("b a")
    assert "<UNK>" not in found
    assert "<UNK>" in seqzoo(capsys, *words)


@pytest.mark.parametrize(
    "words, message",
    [
        (["--prompt=a </S>"], "--prompt: </S> marks sentences"),
        (["--prompt=zzz"], "'zzz' is not in the model's vocabulary"),
        (["--prompt=<UNKN>"], "did you mean '<UNK>'?"),
        (["--temperature=-1"], "--temperature=-1"),
        (["--temperature=nan"], "temperature nan"),
        (["--nsample=0"], "--nsample=0"),
        (["--seed=-1"], "--seed=-1"),
    ],
)
def test_bad_input(words, message, run, capsys):
    assert main.main(["sample", str(run[0]), *words]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err
    assert err.count("\n") == 1


def test_a_model_has_to_be_given():
    assert main.main(["sample"]) == 2
