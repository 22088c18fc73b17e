"""Runs a program of ours that knows nothing of ours, on a SavedModel."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seqzoo.datasets.errors import InputError


def run(
    program: str, directory: str, request: Mapping[str, NDArray]
) -> dict[str, NDArray]:
    """What a program makes of a SavedModel, in a process of its own.

    Args:
        program: a file of Python that takes a SavedModel's folder, the name of a .npz
            file with the request, and that of one for the answer.
        directory: the SavedModel.
        request: arrays by name; none of Python objects.

    Returns:
        The answer.

    Raises:
        InputError: if the program fails.
    """
    with tempfile.TemporaryDirectory() as folder:
        question, answer = f"{folder}/request.npz", f"{folder}/answer.npz"
        with open(question, "wb") as file:
            arrays: Any = dict(request)
            np.savez(file, **arrays)
        # -P: the script's folder is no place to import from.
        ended = subprocess.run(
            [sys.executable, "-P", program, directory, question, answer],
            capture_output=True,
            text=True,
            errors="replace",
            env={"TF_CPP_MIN_LOG_LEVEL": "2", **os.environ},
        )
        if ended.returncode:
            lines = ended.stderr.strip().splitlines() or ["no message"]
            raise InputError(
                "a process with only TensorFlow cannot run the SavedModel "
                f"(exit {ended.returncode}): {lines[-1]}"
            )
        with np.load(answer) as outputs:
            return dict(outputs)
