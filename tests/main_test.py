import logging
import os
import signal
import subprocess
import sys
import types

import absl.flags
import pytest
import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.commands import common, main
from tests import flag_use

COMMANDS = list(main.COMMANDS)
LINES = [*([name] for name in COMMANDS), ["train", "language/lstm"]]


@pytest.fixture
def command(monkeypatch):
    """Puts a function, and the flags it likes, in the place of `seqzoo info`."""

    def put(run, define=lambda flag_values: None):
        module = types.ModuleType("info_command")
        module.USAGE = "seqzoo info FILE...\n\nDoes what the test says."
        module.define, module.run = define, run
        name = "seqzoo.zoo.commands.info_command"
        monkeypatch.setitem(sys.modules, name, module)

    yield put
    logging.getLogger("seqzoo").handlers = []
    logging.getLogger("seqzoo").propagate = True


def _raiser(error):
    def run(args, flags):
        raise error

    return run


def _python(code, *words, **kwargs):
    """Runs code in a process of its own, which finds the package as this one does."""
    kwargs = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **kwargs}
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", code, *words]
    return subprocess.run(command, text=True, env=environment, **kwargs)


def test_help_lists_the_commands(capsys):
    assert main.main(["--help"]) == 0
    out = capsys.readouterr().out
    assert [
        line.split()[0] for line in out.splitlines() if line[:2] == "  "
    ] == COMMANDS


@pytest.mark.parametrize("words", [["--help"], ["copy", "--help"], ["models"]])
def test_help_loads_neither_tensorflow_nor_numpy(words):
    code = (
        "import sys; from seqzoo.zoo.commands.main import main; main(sys.argv[1:]); "
        "print(sorted({'tensorflow', 'keras', 'numpy', 'matplotlib'} & {*sys.modules}))"
    )
    done = _python(code, *words)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("line", LINES)
def test_every_command_has_a_help_page(line, capsys):
    name, *words = line
    assert main.main([*line, "--help"]) == 0
    page = capsys.readouterr().out
    assert page.startswith(f"usage: seqzoo {name}")
    _, flags = main.load(name, words)
    for flag in flags:
        assert f"--{flag}" in page
        assert flags[flag].help, f"--{flag} tells nothing"
    assert max(map(len, page.splitlines())) <= 88


@pytest.mark.parametrize("line", LINES)
def test_every_command_imports_no_tensorflow_for_its_help(line):
    code = (
        "import sys; from seqzoo.zoo.commands.main import main; main(sys.argv[1:]); "
        "sys.exit('tensorflow' in sys.modules)"
    )
    assert _python(code, *line, "--help").returncode == 0


@pytest.mark.parametrize("line", LINES)
def test_every_flag_is_read(line):
    assert flag_use.unread(line[0], line[1:]) == []


def test_a_flag_that_is_not_read_is_found(monkeypatch):
    module, flags = main.load("copy")
    absl.flags.DEFINE_bool("idle", False, "does nothing", flag_values=flags)
    common.define_threads(flags)  # Read where TensorFlow is started: not in `copy`.
    monkeypatch.setattr(main, "load", lambda name, words: (module, flags))
    assert flag_use.unread("copy") == ["idle", "threads"]


def test_help_of_a_command_by_its_name(capsys):
    assert main.main(["help", "copy"]) == 0
    first = capsys.readouterr().out
    assert main.main(["copy", "x", "--help"]) == 0
    assert capsys.readouterr().out == first


def test_nothing_asked(capsys):
    assert main.main([]) == 2
    assert "usage: seqzoo COMMAND" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, message",
    [
        (["trian"], "seqzoo: 'trian' is not a command; did you mean train?"),
        (["xyz"], "seqzoo: 'xyz' is not a command; `seqzoo --help` lists them."),
        (
            ["copy", "--dropout-rat=0.1", "a", "b"],
            "seqzoo copy: --dropout-rat is not a flag of this command; "
            "did you mean --dropout_rate?",
        ),
    ],
)
def test_a_misspelt_name_gets_the_nearest(words, message, capsys):
    assert main.main(words) == 1
    assert capsys.readouterr().err == message + "\n"


@pytest.mark.parametrize("words", [["copy", "in"], ["copy"], ["info"]])
def test_a_wrong_number_of_words_is_a_usage_error(words, capsys):
    assert main.main(words) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"seqzoo {words[0]}: give ")
    assert second.startswith(f"usage: seqzoo {words[0]} ")


@pytest.mark.parametrize(
    "error, line",
    [
        (InputError("a.ark:7: truncated."), "a.ark:7: truncated."),
        (ValueError("two\nlines"), "two lines"),
        (FileNotFoundError(2, "No such file", "x"), "x: No such file."),
        (OSError(28, "No space left on device"), "No space left on device."),
        (MemoryError(), "out of memory."),
    ],
)
def test_errors_are_one_line(error, line, command, capsys):
    command(_raiser(error))
    assert main.main(["info"]) == 1
    assert capsys.readouterr().err == f"seqzoo info: {line}\n"


def test_errors_of_input_pipelines_are_those_of_the_reader(command, capsys):
    text = "InputError: a.ark:7: truncated.\nTraceback (most recent call last):\n x"
    command(_raiser(tf.errors.InvalidArgumentError(None, None, text)))
    assert main.main(["info"]) == 1
    assert capsys.readouterr().err == "seqzoo info: a.ark:7: truncated.\n"


def test_traceback_on_demand(command, capsys):
    command(_raiser(InputError("bad")))
    assert main.main(["info", "--traceback"]) == 1
    err = capsys.readouterr().err
    assert "Traceback" in err and err.endswith("\nseqzoo info: bad\n")


def test_a_fault_of_the_program_shows_its_traceback(command):
    command(_raiser(KeyError("x")))
    with pytest.raises(KeyError):
        main.main(["info"])


def test_interrupted(command, capsys):
    command(_raiser(KeyboardInterrupt()))
    assert main.main(["info"]) == 130
    assert capsys.readouterr().err == "seqzoo info: interrupted.\n"


def test_the_code_of_a_command_is_passed_on(command):
    command(lambda args, flags: 3)
    assert main.main(["info"]) == 3


def test_nobody_reads_the_output():
    read, write = os.pipe()
    os.close(read)
    code = (
        "import sys; from seqzoo.zoo.commands.main import main; "
        "sys.exit(main(['copy', '--help']))"
    )
    try:
        done = _python(code, stdout=write)
    finally:
        os.close(write)
    assert (done.returncode, done.stderr) == (128 + signal.SIGPIPE, "")


def test_log_lines(command, capsys):
    log = logging.getLogger("seqzoo.zoo.training.x")

    def run(args, flags):
        log.info("epoch %d", 1)
        log.debug("details")
        log.warning("2 utterances skipped")

    command(run)
    main.main(["info"])
    assert capsys.readouterr().err == (
        "LOG (seqzoo info) epoch 1\nWARNING (seqzoo info) 2 utterances skipped\n"
    )
    main.main(["info", "--verbose=1"])
    assert "VLOG (seqzoo info) details\n" in capsys.readouterr().err
    main.main(["info", "--verbose=-1"])
    assert "LOG" not in capsys.readouterr().err


def test_version(capsys):
    assert main.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("seqzoo ")


def test_tensorflow_starts_without_a_word():
    code = (
        "import absl.flags, os; from seqzoo.zoo.commands import common; "
        "os.environ.pop('TF_CPP_MIN_LOG_LEVEL', None); f = absl.flags.FlagValues(); "
        "common.define_threads(f); f.mark_as_parsed(); f.threads = 1; "
        "tf = common.start_tensorflow(f); "
        "print(tf.config.threading.get_intra_op_parallelism_threads(), tf.ones(1)[0])"
    )
    done = _python(code)
    assert done.stderr == ""
    assert done.stdout.startswith("1 ")
