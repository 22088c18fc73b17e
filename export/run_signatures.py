"""Runs all signatures of a SavedModel; a program that imports only TensorFlow.

    python run_signatures.py SAVED_MODEL REQUEST.npz ANSWER.npz

REQUEST holds `feats` and `lengths`, ANSWER the outputs as `signature/output`. A
signature that takes a state gets the utterances in pieces, and its outputs are joined.
"""

import sys
from typing import Any

import numpy as np
import tensorflow as tf

# Frames of an utterance's pieces, over and over; each utterance starts with another.
_PIECES = (1, 4, 0, 9, 2)


def run(directory: str, request: str, answer: str) -> None:
    """Loads the model and writes what its signatures give."""
    loaded = tf.saved_model.load(directory)
    with np.load(request) as inputs:
        feats, lengths = inputs["feats"], inputs["lengths"]
    outputs: dict[str, Any] = {}
    for name, signature in loaded.signatures.items():
        specs = signature.structured_input_signature[1]
        state = {k: v for k, v in specs.items() if k.startswith("state_")}
        if state:
            outputs[f"{name}/outputs"] = _in_pieces(signature, state, feats, lengths)
        else:
            made = signature(feats=tf.constant(feats), lengths=tf.constant(lengths))
            outputs |= {f"{name}/{k}": value.numpy() for k, value in made.items()}
    np.savez(answer, **outputs)
    ours = sorted(name for name in sys.modules if name.split(".")[0] == "seqzoo")
    if ours:
        raise SystemExit(f"loading it imported {', '.join(ours)}.")


def _in_pieces(
    step: Any, specs: dict[str, Any], feats: np.ndarray, lengths: np.ndarray
) -> np.ndarray:
    """The outputs of whole utterances from those of their pieces."""
    batch = len(lengths)
    state = {k: tf.zeros([batch, *s.shape[1:]], s.dtype) for k, s in specs.items()}
    begun = np.zeros(batch, np.int32)
    given = np.zeros(batch, np.int32)
    ended = np.zeros(batch, bool)
    classes = step.structured_outputs["outputs"].shape[-1]
    outputs = np.zeros((*feats.shape[:2], classes), np.float32)
    for turn in range(10 * feats.shape[1]):
        wanted = [_PIECES[(turn + row) % len(_PIECES)] for row in range(batch)]
        sizes = np.minimum(wanted, lengths - begun).astype(np.int32)
        last = (begun + sizes == lengths) & ~ended
        pieces = np.full((batch, max(sizes.max(), 1), feats.shape[2]), 1e6, np.float32)
        for row, (start, size) in enumerate(zip(begun, sizes, strict=True)):
            pieces[row, :size] = feats[row, start : start + size]
        made = step(
            feats=tf.constant(pieces),
            lengths=tf.constant(sizes),
            last=tf.constant(last),
            **state,
        )
        state = {name: made[name] for name in state}
        for row, size in enumerate(made["lengths"].numpy()):
            start = given[row]
            outputs[row, start : start + size] = made["outputs"].numpy()[row, :size]
        given += made["lengths"].numpy()
        begun += sizes
        ended |= last
        if ended.all():
            break
    if any(np.any(value.numpy()) for value in state.values()):
        raise SystemExit("the state after an utterance's end is not 0.")
    if (given != lengths).any():
        raise SystemExit(f"step gave {given} frames of {lengths}.")
    return outputs


if __name__ == "__main__":
    run(*sys.argv[1:])
