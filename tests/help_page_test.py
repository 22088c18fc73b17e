import absl.flags

from seqzoo.zoo.commands import common, help_page


def test_a_page():
    flags = absl.flags.FlagValues()
    absl.flags.DEFINE_float("rate", 0.008, "how fast", flag_values=flags)
    absl.flags.DEFINE_bool("copy", True, "whether to copy", flag_values=flags)
    absl.flags.DEFINE_string("out", "", "where to", flag_values=flags)
    absl.flags.DEFINE_enum("loss", "xent", ["xent", "mse"], "what", flag_values=flags)
    absl.flags.DEFINE_integer(
        "a_name_too_long_for_its_column", None, "told below", flag_values=flags
    )
    absl.flags.DEFINE_list("sizes", ["1", "2"], "several", flag_values=flags)
    absl.flags.DEFINE_multi_string("set", [], "a setting", flag_values=flags)
    common.define_general(flags)
    page = help_page.page("seqzoo x A B\n\nDoes x.\n", flags)
    assert page.split("\n\nFlags of all commands:\n")[0] == (
        """usage: seqzoo x A B

Does x.

Flags:
  --rate=X                  how fast [0.008]
  --copy                    whether to copy [true]
  --out=VALUE               where to
  --loss=xent|mse           what [xent]
  --a_name_too_long_for_its_column=N
                            told below
  --sizes=VALUE             several [1,2]
  --set=VALUE               a setting; may come more than once"""
    )
    for name in common.GENERAL_FLAGS:
        assert f"--{name}" in page.split("\n\nFlags of all commands:\n")[1]


def test_long_texts_are_wrapped():
    flags = absl.flags.FlagValues()
    absl.flags.DEFINE_string("x", "end", "word " * 31, flag_values=flags)
    lines = help_page.page("seqzoo x", flags).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[-1].endswith("word [end]")
    assert all(line.startswith(" " * 28 + "word") for line in lines[4:])
