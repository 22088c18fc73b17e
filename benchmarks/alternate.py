"""Measures rivals in turns and tells how they compare.

Each round runs every rival once, so what else the machine does meanwhile falls on all
of them; ratios are taken within a round. Numbers are medians over the rounds, with the
least and the greatest.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

RESULTS = pathlib.Path(__file__).parent / "results"


@dataclasses.dataclass(frozen=True)
class Work:
    """What was done, and what it took."""

    units: float
    """Frames, mostly."""

    wall: float
    """Seconds."""

    cpu: float
    """Seconds of all cores together, in the program and in the system."""

    peak: float = 0
    """Most memory of the process, in bytes; 0 is not known."""

    def __sub__(self, other: "Work") -> "Work":
        return Work(
            self.units - other.units,
            self.wall - other.wall,
            self.cpu - other.cpu,
            max(self.peak, other.peak),
        )


def options(description: str) -> argparse.Namespace:
    """The flags that every script has: `--quick` and `--rounds`."""
    parser = argparse.ArgumentParser(description=description.split("\n\n")[0])
    parser.add_argument("--quick", action="store_true", help="less data, one round")
    parser.add_argument("--rounds", type=int, help="rounds; 1 with --quick, else 5")
    found = parser.parse_args()
    found.rounds = found.rounds or (1 if found.quick else 5)
    return found


def on_one_core() -> None:
    """Keeps this process, and all that it starts, on one core, where that is known."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def run(
    command: Sequence[str], units: float = 0, env: Mapping[str, str] | None = None
) -> Work:
    """Runs a command to its end; what it prints is shown if it fails.

    Args:
        command: a program and its words.
        units: what it does, for the result.
        env: more of its environment.
    """
    with tempfile.TemporaryFile() as output:
        begun = time.perf_counter()
        process = subprocess.Popen(
            command,
            stdout=output,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(env or {})},
        )
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            output.seek(0)
            sys.stdout.write(output.read().decode("utf-8", "replace"))
            raise SystemExit(f"{' '.join(command)} failed ({process.returncode}).")
    cpu = usage.ru_utime + usage.ru_stime
    return Work(units, wall, cpu, usage.ru_maxrss * 1024)


def run_script(*words: object) -> Work:
    """Runs a script of this directory, with its flags, that `report`s its work."""
    script, *flags = map(str, words)
    command = [sys.executable, str(pathlib.Path(__file__).parent / script), *flags]
    done = subprocess.run(command, capture_output=True)
    if done.returncode:
        raise SystemExit(f"{script} failed:\n{done.stderr.decode('utf-8', 'replace')}")
    return Work(**json.loads(done.stdout.splitlines()[-1]))


def report(work: Work) -> None:
    """Prints work for `run_script`."""
    print(json.dumps(dataclasses.asdict(work)))


def timed(function: Callable[[], float]) -> Work:
    """Calls a function of this process that returns its units."""
    wall, cpu = time.perf_counter(), time.process_time()
    units = function()
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return Work(units, wall, cpu, peak)


def in_turns(
    rivals: Mapping[str, Callable[[], Work]], rounds: int
) -> dict[str, list[Work]]:
    """The work of each rival in each round."""
    found: dict[str, list[Work]] = {name: [] for name in rivals}
    for number in range(rounds):
        names = list(rivals)
        if number % 2:
            names.reverse()
        for name in names:
            found[name].append(rivals[name]())
    return found


class Report:
    """The table of one script, printed as it grows and kept in `results/`.

    Args:
        name: of the script.
        settings: its flags, to be kept beside the numbers.
        unit: what is counted.
    """

    def __init__(self, name: str, settings: argparse.Namespace, unit: str = "frames"):
        self._name = name
        self._settings = vars(settings)
        self._rows: list[dict[str, object]] = []
        print(f"{name} on {machine()}")
        self._line("", f"{unit} per second", "per CPU-second")

    def _line(self, name: str, wall: str, cpu: str) -> None:
        print(f"{name:62} {wall:>22} {cpu:>22}", flush=True)

    def add(
        self,
        case: str,
        works: Mapping[str, Sequence[Work]],
        ours: str,
        recorded: Mapping[str, float] | None = None,
        bytes_a_unit: float = 0,
    ) -> None:
        """Prints the rates of a case and the ratios of ours to the others.

        Args:
            case: its settings, threads among them.
            works: of `in_turns`.
            ours: which of them is compared with the rest.
            recorded: rates per CPU-second that were measured before, by name.
            bytes_a_unit: size of a unit, to show megabytes per second as well.
        """
        print(case)
        row: dict[str, Any] = {"case": case}
        for name, done in works.items():
            wall = [work.units / work.wall for work in done]
            cpu = [work.units / work.cpu for work in done]
            middle = statistics.median(wall) * bytes_a_unit / 1e6
            size = f", {middle:.0f} MB/s" if bytes_a_unit else ""
            self._line(f"  {name}{size}", spread(wall), spread(cpu))
            row[name] = {"per_second": wall, "per_cpu_second": cpu}
            if peak := max(work.peak for work in done):
                print(f"    at most {peak / 1e9:.2f} GB")
                row[name]["peak_bytes"] = peak
        for name in works:
            if name != ours:
                pairs = list(zip(works[ours], works[name], strict=True))
                wall = [(a.units / a.wall) / (b.units / b.wall) for a, b in pairs]
                cpu = [(a.units / a.cpu) / (b.units / b.cpu) for a, b in pairs]
                self._ratio(f"{ours} : {name}", wall, cpu)
                row[f"{ours} : {name}"] = {"per_second": wall, "per_cpu_second": cpu}
        for name, rate in (recorded or {}).items():
            cpu = [work.units / work.cpu / rate for work in works[ours]]
            self._ratio(f"{ours} : {name} ({rate:g})", None, cpu)
            row[f"{ours} : {name}"] = {"per_cpu_second": cpu}
        self._rows.append(row)
        self._save()

    def _ratio(
        self, name: str, wall: Sequence[float] | None, cpu: Sequence[float]
    ) -> None:
        shown = "" if wall is None else spread(wall)
        self._line(f"  {name}", shown, spread(cpu))

    def _save(self) -> None:
        RESULTS.mkdir(exist_ok=True)
        found = {"machine": machine(), **self._settings, "cases": self._rows}
        text = json.dumps(found, indent=1)
        (RESULTS / f"{self._name}.json").write_text(text + "\n", encoding="utf-8")


def spread(values: Sequence[float]) -> str:
    """The median, and in brackets the least and the greatest."""
    middle = _short(statistics.median(values))
    if len(values) == 1:
        return middle
    return f"{middle} ({_short(min(values))}-{_short(max(values))})"


def _short(value: float) -> str:
    """Ratios with two digits behind the point, large rates as 12.3k or 4.56M."""
    for size, name in ((1e6, "M"), (1e4, "k")):
        if value >= size:
            value /= 1e6 if name == "M" else 1e3
            return f"{value:.{2 if value < 10 else 1}f}{name}"
    return f"{value:.2f}" if value < 100 else f"{value:.0f}"


def machine() -> str:
    """The processor, its cores, and how busy it is."""
    name = platform.processor() or platform.machine()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [line for line in file if line.startswith("model name")]
        name = names[0].partition(":")[2].strip()
    except (OSError, IndexError):
        pass
    load = os.getloadavg()[0]
    return f"{name}, {os.cpu_count()} cores, load {load:.1f}"
