import dataclasses

import pytest

from seqzoo.datasets import kaldi_options
from seqzoo.datasets.errors import InputError


@dataclasses.dataclass(frozen=True)
class Options:
    norm_vars: bool = False
    learn_rate: float = 0.008
    minibatch_size: int = 256
    utt2spk: str = ""


def parse(text):
    return kaldi_options.parse(Options, text)


def test_values_of_every_type():
    text = "--norm-vars=true --learn-rate=1e-3 --minibatch_size=16 --utt2spk='ark:a b'"
    assert parse(text) == Options(True, 1e-3, 16, "ark:a b")


def test_what_is_not_given_keeps_its_default():
    assert parse("  ") == Options()


def test_bools():
    assert parse("--norm-vars").norm_vars
    assert parse("--norm-vars=1").norm_vars
    assert not parse("--norm-vars=true --norm-vars=F").norm_vars


@pytest.mark.parametrize(
    "text, message",
    [
        ("--norm-var=true", "'--norm-var=true' is not an option .* --norm-vars?"),
        ("--zzz=1", "known: --norm-vars, --learn-rate, --minibatch-size, --utt2spk"),
        ("norm-vars", "is not an option here"),
        ("--norm-vars=maybe", "holds 'maybe', but --norm-vars takes true or false"),
        ("--minibatch-size=1.5", "holds '1.5', but --minibatch-size takes int"),
        ("--learn-rate", "holds '', but --learn-rate takes float"),
        ("--utt2spk='ark", "No closing quotation"),
    ],
)
def test_what_is_wrong(text, message):
    with pytest.raises(InputError, match=message):
        parse(text)
