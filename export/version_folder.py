"""Folders of SavedModels, one a version, that appear only when all is written."""

import json
import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import tensorflow as tf

from seqzoo.datasets.errors import InputError

EXTRA = "assets.extra"
"""The folder in a SavedModel for whatever is no part of it."""

DESCRIPTION = f"{EXTRA}/signatures.json"


def write(directory: str, version: int | None, fill: Callable[[str], None]) -> str:
    """Makes `directory/<version>/`, where TF Serving finds it.

    Args:
        directory: the folder of all versions, local or remote; made if need be.
        version: at least 0; None takes the next after the highest there.
        fill: writes all that belongs there into the folder that it is given.

    Returns:
        The folder of the version. It takes its name when all is written; if anything
        goes wrong nothing is left of it.

    Raises:
        InputError: if the version is there or the folder cannot be written, and what
            `fill` raises.
    """
    directory = directory.rstrip("/") or directory
    made = _missing_folders(directory)
    temporary = f"{directory}/.{uuid.uuid4().hex[:8]}.part"
    try:
        tf.io.gfile.makedirs(directory)
        taken = versions(directory)
        if version is None:
            version = max(taken, default=0) + 1
        if version < 0 or version in taken:
            reason = "is there already" if version in taken else "is below 0"
            raise InputError(f"{directory}: version {version} {reason}; give another.")
        fill(temporary)
        final = f"{directory}/{version}"
        tf.io.gfile.rename(temporary, final)
    except (OSError, tf.errors.OpError) as error:
        _remove(temporary, made)
        raise InputError(
            f"{directory}: cannot write a SavedModel: {_reason(error)}."
        ) from None
    except BaseException:
        _remove(temporary, made)
        raise
    return final


def versions(directory: str) -> list[int]:
    """The version numbers in a folder that TF Serving watches."""
    if not tf.io.gfile.isdir(directory):
        return []
    names = (name.strip("/") for name in tf.io.gfile.listdir(directory))
    return sorted(int(name) for name in names if name.isdecimal())


def write_description(folder: str, page: Mapping[str, Any]) -> None:
    """Leaves a page in a SavedModel for whoever finds it.

    Args:
        folder: of the SavedModel.
        page: names and widths; plain values.
    """
    tf.io.gfile.makedirs(f"{folder}/{EXTRA}")
    with tf.io.gfile.GFile(f"{folder}/{DESCRIPTION}", "w") as stream:
        stream.write(json.dumps(page, indent=2) + "\n")


def description(folder: str) -> dict[str, Any]:
    """What was noted of the SavedModel in `folder`; empty if nothing was."""
    path = f"{folder}/{DESCRIPTION}"
    if not tf.io.gfile.exists(path):
        return {}
    with tf.io.gfile.GFile(path) as stream:
        return json.loads(stream.read())


def _reason(error: Any) -> str:
    """`No space left on device` of what TensorFlow says around it."""
    message = getattr(error, "message", None) or error.strerror or str(error)
    message = re.sub(r"\{\{.*?\}\}|\[Op:\w+\]", "", message)
    return " ".join(message.rpartition("; ")[2].split()).removesuffix(".")


def _missing_folders(path: str) -> list[str]:
    """The folders that making `path` makes, the innermost first."""
    missing = []
    while path and not tf.io.gfile.exists(path):
        missing.append(path)
        path = path.rpartition("/")[0]
    return missing


def _remove(temporary: str, made: Sequence[str]) -> None:
    gfile = tf.io.gfile
    try:
        if gfile.exists(temporary):
            gfile.rmtree(temporary)
        for folder in made:
            if gfile.isdir(folder) and not gfile.listdir(folder):
                gfile.rmtree(folder)
    except tf.errors.OpError:
        pass  # What went wrong before is what is told.
