"""Words per second that the full softmax scores, 793,471 words of 250 numbers.

Ours is `LanguageModel.log_probs`, LSTMs and all; PyTorch's is the softmax alone, of the
LSTMs' outputs, which ours left, and in bfloat16 of a copy of the table that is there
before. It takes 128 rows and all words at a time, as is done, or what is fastest of
some sizes of pieces. One thread; a unit is a word. The log-probabilities are compared.
"""

import json
import pathlib
import sys
import tempfile
import time

import alternate
import language_data
import numpy as np
import rivals

DIM = 250
COLUMNS = 128
# Rows and words at a time; 0 is all words.
WHOLE = ((128, 0),)
PIECES = ((128, 65_536), (128, 8192), (640, 4096), (640, 1024))


def main() -> None:
    options = alternate.options(__doc__)
    steps = 5 if options.quick else 20
    rounds = options.rounds if options.quick else max(options.rounds, 8)
    report = alternate.Report("evaluate_language", options, unit="words")
    for kind in ("float32", "bfloat16"):
        with tempfile.TemporaryDirectory() as scratch:
            given = (kind, steps, scratch)
            found = {"seqzoo": rivals.Rival(__file__, "ours", *given)}
            # It leaves what the other takes.
            found["seqzoo"].turn()
            for name in ("PyTorch, whole", "PyTorch, pieces"):
                word = name.removeprefix("PyTorch, ")
                found[name] = rivals.Rival(__file__, word, *given)
            rivals.compare(report, f"2x{DIM}, {kind}, 1 thread", found, rounds)
            _compare(pathlib.Path(scratch))


def _compare(folder: pathlib.Path) -> None:
    """Prints how well both agree with PyTorch's float32."""
    exact = np.load(folder / "exact.npy")
    for name in ("ours", "whole", "pieces"):
        found = np.load(folder / f"{name}.npy")
        ratio = np.exp(exact.mean(dtype=np.float64) - found.mean(dtype=np.float64))
        print(
            f"  {name}: log-probability {found.mean():.6f}, perplexity "
            f"{ratio - 1:+.1e} of PyTorch's in float32, the worst word "
            f"{np.abs(found - exact).max():.1e}"
        )
    print(f"  PyTorch's pieces: {(folder / 'pieces.json').read_text()} rows, words")


def _table() -> tuple[np.ndarray, np.ndarray]:
    """Output weights whose scores differ as those of a trained model do."""
    seen = language_data.counts(language_data.WORDS)
    random = np.random.default_rng(0)
    rows = random.random((len(seen), DIM), np.float32)
    rows -= np.float32(0.5)
    rows *= np.float32(4)
    return rows, np.log(seen / seen.sum()).astype(np.float32)


def _ours(kind: str, steps: int, folder: pathlib.Path) -> None:
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(1)
    tf.config.threading.set_inter_op_parallelism_threads(1)
    from seqzoo.zoo import registry
    from seqzoo.zoo.language.lstm_config import LstmConfig
    from seqzoo.zoo.training import weight_files

    words = language_data.WORDS
    model = registry.build(
        "language/lstm", LstmConfig(words=words, hiddensize=(250,) * 2)
    )
    rows, bias = _table()
    weight_files.assign(model.output_layer.linearity.value, rows)
    weight_files.assign(model.output_layer.bias.value, bias)
    del rows
    ids = language_data.sentences(
        language_data.counts(words), 30 * steps * COLUMNS, 5
    ).ids
    ids = ids[: (steps + 1) * COLUMNS].reshape(COLUMNS, -1).T
    given, targets = tf.constant(ids[:-1]), tf.constant(ids[1:])
    state = model.zero_state(COLUMNS)
    hidden, _ = model.run(given, state)
    np.save(folder / "hidden.npy", hidden.numpy().reshape(-1, DIM))
    np.save(folder / "targets.npy", ids[1:].reshape(-1) - 1)

    @tf.function
    def score():
        return model.log_probs(given, targets, state, dtype=kind)[0]

    def step() -> int:
        np.save(folder / "ours.npy", score().numpy().reshape(-1))
        return targets.shape.num_elements()

    rivals.serve(step)


def _torch(kind: str, name: str, folder: pathlib.Path) -> None:
    import torch

    torch.set_num_threads(1)
    rows, bias = map(torch.from_numpy, _table())
    hidden = torch.from_numpy(np.load(folder / "hidden.npy"))
    targets = torch.from_numpy(np.load(folder / "targets.npy")).long()

    def score(hidden, targets, table, at_once):
        size, most = at_once
        found = []
        for some, wanted in zip(hidden.split(size), targets.split(size), strict=True):
            low = some.to(table.dtype)
            parts = zip(
                table.split(most or len(table)),
                bias.split(most or len(bias)),
                strict=True,
            )
            totals = [
                torch.logsumexp(torch.mm(low, part.T).float().add_(more), 1)
                for part, more in parts
            ]
            own = (some * rows[wanted]).sum(1) + bias[wanted]
            found.append(own - torch.logsumexp(torch.stack(totals, 1), 1))
        return torch.cat(found)

    with torch.inference_mode():
        table = rows.to(getattr(torch, kind))
        seconds = {}
        for at_once in WHOLE if name == "whole" else PIECES:
            begun = time.process_time()
            score(hidden[:640], targets[:640], table, at_once)
            seconds[at_once] = time.process_time() - begun
        best = min(seconds, key=seconds.__getitem__)
        (folder / f"{name}.json").write_text(json.dumps(best))
        if name == "pieces":
            np.save(folder / "exact.npy", score(hidden, targets, rows, best).numpy())

        def step() -> int:
            found = score(hidden, targets, table, best)
            np.save(folder / f"{name}.npy", found.numpy())
            return len(hidden)

        rivals.serve(step)


if __name__ == "__main__":
    if sys.argv[1:2] == ["ours"]:
        _ours(sys.argv[2], int(sys.argv[3]), pathlib.Path(sys.argv[4]))
    elif sys.argv[1:2] in (["whole"], ["pieces"]):
        _torch(sys.argv[2], sys.argv[1], pathlib.Path(sys.argv[4]))
    else:
        main()
