"""Rivals that stay in memory and work in close turns.

Each is a process of a script of this directory, which answers every line on its
standard input by the work of one turn. So a machine whose speed changes from minute to
minute treats them alike, and neither's start counts.
"""

import dataclasses
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping

import alternate

_QUIET = {"TF_CPP_MIN_LOG_LEVEL": "3", "OPENBLAS_NUM_THREADS": "1"}


class Rival:
    """A process that works for a turn whenever it is asked.

    Args:
        script: a file of this directory; it `serve`s.
        words: what it is given.
    """

    def __init__(self, script: str, *words: object):
        self._process = subprocess.Popen(
            [sys.executable, script, *map(str, words)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={**os.environ, **_QUIET},
        )

    def turn(self) -> alternate.Work:
        """The work of one turn."""
        assert self._process.stdin and self._process.stdout
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return alternate.Work(**json.loads(self._process.stdout.readline()))

    def end(self) -> None:
        """Lets it go."""
        self._process.communicate()


def serve(step: Callable[[], float]) -> None:
    """Answers each line by the work of one call, which returns its units."""
    for _ in sys.stdin:
        print(json.dumps(dataclasses.asdict(alternate.timed(step))), flush=True)


def compare(
    report: alternate.Report,
    case: str,
    rivals: Mapping[str, Rival],
    rounds: int,
    recorded: Mapping[str, float] | None = None,
) -> None:
    """Lets all work in turns, the first of which warms up, and reports the case.

    The first of `rivals` is ours; `recorded` is as of `Report.add`.
    """
    turns = {name: rival.turn for name, rival in rivals.items()}
    alternate.in_turns(turns, 1)
    works = alternate.in_turns(turns, rounds)
    for rival in rivals.values():
        rival.end()
    report.add(case, works, next(iter(rivals)), recorded)
