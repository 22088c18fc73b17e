import absl.flags
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import command_line


@pytest.fixture
def flags():
    values = absl.flags.FlagValues()
    absl.flags.DEFINE_bool("copy_feats", True, "", flag_values=values)
    absl.flags.DEFINE_float("learn_rate", 0.008, "", flag_values=values)
    absl.flags.DEFINE_integer("iters", 20, "", lower_bound=1, flag_values=values)
    absl.flags.DEFINE_string("feats", "", "", flag_values=values)
    absl.flags.DEFINE_enum("loss", "xent", ["xent", "mse"], "", flag_values=values)
    absl.flags.DEFINE_multi_string("set", [], "", flag_values=values)
    return values


@pytest.mark.parametrize(
    "words",
    ["--learn-rate=0.1", "--learn_rate=0.1", "--learn-rate 0.1", "-learn_rate 0.1"],
)
def test_dashes_and_values(words, flags):
    assert command_line.parse(words.split(), flags) == []
    assert flags.learn_rate == 0.1


@pytest.mark.parametrize(
    "words, value",
    [
        ("--copy-feats", True),
        ("--copy-feats=true", True),
        ("--copy-feats false", False),
        ("--copy-feats=false", False),
        ("--nocopy-feats", False),
        ("--no-copy-feats", False),
        ("--nocopy_feats", False),
        ("--copy-feats false --copy-feats true", True),
    ],
)
def test_true_or_false(words, value, flags):
    assert command_line.parse([*words.split(), "next"], flags) == ["next"]
    assert flags.copy_feats is value


def test_flags_and_other_words_mix(flags):
    words = ["in", "--iters", "3", "-", "--copy_feats", "-5", "--", "--set", "x"]
    assert command_line.parse(words, flags) == ["in", "-", "-5", "--set", "x"]
    assert flags.iters == 3 and flags.copy_feats is True


def test_defaults_stay(flags):
    command_line.parse([], flags)
    assert flags.flag_values_dict() == {
        "copy_feats": True,
        "learn_rate": 0.008,
        "iters": 20,
        "feats": "",
        "loss": "xent",
        "set": [],
    }


def test_a_flag_given_many_times(flags):
    command_line.parse(["--set=a=1", "--set", "b=-5:5"], flags)
    assert flags.set == ["a=1", "b=-5:5"]


def test_values_may_hold_what_flags_hold(flags):
    command_line.parse(["--feats=ark:copy-feats --x=1 scp:a ark:- |"], flags)
    assert flags.feats == "ark:copy-feats --x=1 scp:a ark:- |"


def test_options_for_another_tool_may_begin_like_a_flag(flags):
    absl.flags.DEFINE_string("cmvn_opts", "", "", flag_values=flags)
    command_line.parse(["--cmvn-opts", "--norm-vars=true --x", "--iters=3"], flags)
    assert (flags.cmvn_opts, flags.iters) == ("--norm-vars=true --x", 3)


@pytest.mark.parametrize(
    "words, message",
    [
        (["--learn-rat", "1"], "--learn-rat is not a flag.*did you mean --learn_rate"),
        (["--zzz"], "--zzz is not a flag of this command; `seqzoo x --help`"),
        (["--nolearn_rate"], "--nolearn_rate is not a flag"),
        (["--nocopy_feats=true"], "--nocopy_feats=true: give --copy_feats=true or its"),
        (["--learn_rate=fast"], "--learn_rate=fast: a number is taken"),
        (["--iters=0"], "--iters=0: a positive integer is taken"),
        (["--iters=1.5"], "--iters=1.5: a positive integer is taken"),
        (["--copy_feats=maybe"], "--copy_feats=maybe: true or false is taken"),
        (["--loss=xnet"], "one of xent, mse is taken. Did you mean xent?"),
        (["--iters"], "--iters needs a value: a positive integer"),
        (["--feats", "--iters=2"], "--feats needs a value: a word"),
    ],
)
def test_errors(words, message, flags):
    with pytest.raises(InputError, match=message):
        command_line.parse(words, flags, "seqzoo x")


def test_validators_are_asked(flags):
    absl.flags.register_validator(
        "learn_rate", lambda rate: rate > 0, "must be positive", flag_values=flags
    )
    with pytest.raises(InputError, match="^--learn_rate=-1.0: must be positive"):
        command_line.parse(["--learn_rate=-1"], flags)


def test_nearest():
    assert command_line.nearest("trian", ["train", "eval"]) == "train"
    assert command_line.nearest("q", ["train", "eval"]) is None
