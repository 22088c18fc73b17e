"""Makes a trained model that comes along with the package of a run.

    python -m seqzoo.zoo.language.make_preset RUN DIR DESCRIPTION

Weights are kept in float16, which halves them; they are used in float32. What the run
kept for going on, and where its data lay, is left out.
"""

import json
import os
import shutil
import sys

import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.language import run_files


def make(run: str, path: str, description: str) -> None:
    """Writes the folder `path` of the best epoch of `run`.

    Raises:
        InputError: `path` is there, or `run` has no epoch.
    """
    if os.path.exists(path):
        raise InputError(f"{path}: is there already; give another folder.")
    about = run_files.read_json(run, run_files.CONFIG)
    state = run_files.read_state(run)
    weights = os.path.join(path, run_files.WEIGHTS, "best")
    os.makedirs(weights)
    source = os.path.join(run, run_files.WEIGHTS, state["weights"])
    for name in sorted(os.listdir(source)):
        values = np.load(os.path.join(source, name))
        if values.dtype == np.float32 and values.ndim:
            values = values.astype(np.float16)
        np.save(os.path.join(weights, name), values)
    for name in (run_files.VOCABULARY, "history.csv"):
        shutil.copyfile(os.path.join(run, name), os.path.join(path, name))
    kept = ("model", "settings", "training", "tokens")
    told = {"description": description, **{name: about[name] for name in kept}}
    best = {"weights": "best"}
    best |= {name: state[name] for name in ("epoch", "best_epoch", "best_error")}
    for name, value in ((run_files.CONFIG, told), (run_files.STATE, best)):
        with open(os.path.join(path, name), "w", encoding="utf-8") as file:
            file.write(json.dumps(value, indent=1) + "\n")


if __name__ == "__main__":
    make(*sys.argv[1:])
