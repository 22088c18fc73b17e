"""The demonstration: a DNN on the bundled English prompts, trained, exported, queried.

It runs `seqzoo` commands, prints each before it runs, and in the end what they reached
beside what others did: `python -m seqzoo.zoo.acoustic.demo [FOLDER]`. About two minutes
on two cores; a second run finds the first one's results.
"""

import os
import re
import shlex
import subprocess
import sys

from seqzoo.datasets import prompts

_TRAIN_FLAGS = (
    "--hid_layers=2",
    "--hid_dim=512",
    "--cmvn_opts=--norm-means=true --norm-vars=true",
)


def main(folder: str = "exp") -> None:
    """Runs it below `folder`."""
    data = os.path.join(folder, "prompts")
    run = os.path.join(folder, "dnn_en")
    served = os.path.join(folder, "dnn_en_saved_model")
    scores = os.path.join(folder, "dnn_en_scores.txt")
    english = os.path.join(data, "en")
    sets = {name: os.path.join(english, name) for name in prompts.SETS}

    _run("data", "prompts", data)
    given = (sets["train"], sets["cv"], english, sets["train"], sets["cv"], run)
    _run("train", "acoustic/dnn", *_TRAIN_FLAGS, *given)
    found = {
        name: _accuracy(_run("eval", run, sets[name], sets[name], quiet=True))
        for name in ("cv", "test")
    }
    exported = _run("export", run, served, "--check", quiet=True).strip()
    print(exported)
    _run("forward", served, sets["test"], f"ark,t:{scores}", "--verbose=-1")
    with open(scores, encoding="utf-8") as file:
        first = file.readline().split()[0]
        frame = file.readline().split()[:5]
    print(f"{first}, frame 0: {' '.join(frame)} ...\n")
    print(_table(found))
    print(f"\nThe SavedModel:  {exported}")
    print(f"Its scores:      {scores}")
    print(f"Learning curves: {os.path.join(run, 'curves.png')}")


def _run(command: str, *args: str, quiet: bool = False) -> str:
    """Runs a `seqzoo` command; its output, and what it logs, are shown as they come."""
    print(f"$ seqzoo {command} {shlex.join(args)}", flush=True)
    words = [sys.executable, "-m", "seqzoo.zoo.commands", command, *args]
    done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    if not quiet:
        print(done.stdout, end="", flush=True)
    return done.stdout


def _accuracy(text: str) -> tuple[float, float]:
    """Frame accuracy and the largest class's share, in per cent."""
    accuracy = re.search(r"FRAME_ACCURACY >> ([0-9.]+)%", text)
    majority = re.search(r"largest class: ([0-9.]+)%", text)
    assert accuracy and majority
    return float(accuracy[1]), float(majority[1])


def _table(found: dict[str, tuple[float, float]]) -> str:
    record = prompts.recorded("en")
    baselines = record["baselines"]
    rows: list[tuple[str, float, float | None]] = [
        ("always the largest class", found["cv"][1], found["test"][1]),
        ("LDA (recorded)", 100 * baselines["lda"]["state"], None),
        ("MLP, 256 hidden units (recorded)", 100 * baselines["mlp"]["state"], None),
        (
            "Kaldi nnet1, 440-2x512-117 (recorded)",
            record["cv"]["accuracy"],
            record["test"]["accuracy"],
        ),
        ("seqzoo, 440-2x512-117 (this run)", found["cv"][0], found["test"][0]),
    ]
    lines = [f"{'frame accuracy, English prompts, %':<40} {'cv':>6} {'test':>6}"]
    for name, held_out, test in rows:
        shown = f"{test:6.2f}" if test is not None else f"{'-':>6}"
        lines.append(f"{name:<40} {held_out:6.2f} {shown}")
    return "\n".join(lines)


if __name__ == "__main__":
    main(*sys.argv[1:])
