"""What the rules of word tables cost: descent, momentum and Adagrad by rows, Torch's.

The training step of 2x250 with 793,471 words (language_step.py), each rule beside plain
descent, which has momentum on the LSTMs, but in one case. A unit is a time step of a
column.
"""

import pathlib
import tempfile

import alternate
import language_data
import rivals

SCRIPT = str(pathlib.Path(__file__).parent / "language_step.py")
RULES = {
    "sgd, no momentum on the LSTMs": ("sgd", -1),
    "momentum": ("momentum", 0.9),
    "adagrad": ("adagrad", 0.9),
    "dense_momentum": ("dense_momentum", 0.9),
}


def main() -> None:
    options = alternate.options(__doc__)
    rounds = 3 if options.quick else max(options.rounds, 8)
    alternate.on_one_core()
    report = alternate.Report("table_rules", options, unit="words")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch) / "cache"
        cache = language_data.write_cache(folder, language_data.WORDS, 2_000_000)
        for name, (rule, momentum) in RULES.items():
            pair = {
                "sgd": rivals.Rival(SCRIPT, cache, "sgd", 0.9),
                name: rivals.Rival(SCRIPT, cache, rule, momentum),
            }
            rivals.compare(report, "2x250, V 793471, k 400, 1 thread", pair, rounds)


if __name__ == "__main__":
    main()
