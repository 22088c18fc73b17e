"""Pre-training RBMs, one on the other, in a run folder that can be resumed."""

import contextlib
import dataclasses
import io
import itertools
import json
import logging
import os
import time
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
import tensorflow as tf

from seqzoo.datasets import files
from seqzoo.zoo.acoustic import dnn, output_stats
from seqzoo.zoo.acoustic.dbn_config import DbnConfig
from seqzoo.zoo.acoustic.dbn_options import DbnRecipe
from seqzoo.zoo.acoustic.feature_set import FeatureSet
from seqzoo.zoo.acoustic.frame_training import save_whole
from seqzoo.zoo.checkpoints import (
    components,
    keras_layers,
    nnet1,
    nnet_edit,
    nnet_proto,
)
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.training import device, rbm_history
from seqzoo.zoo.training.frame_trainer import use_bfloat16
from seqzoo.zoo.training.rbm_history import RbmRow
from seqzoo.zoo.training.rbm_trainer import RbmTrainer, RbmTrainOptions
from seqzoo.zoo.training.run_display import progress_bar
from seqzoo.zoo.training.run_folder import Log, RunFolder

_LOG = logging.getLogger(__name__)
# The visible biases of an RBM are set by the means over so many utterances.
_UTTERANCES = 10_000


class DbnTraining:
    """One run: for each RBM a prototype, initial weights, passes, the stack so far.

    Args:
        folder: where all goes, under pretrain_dbn.sh's names.
        config: of the stack.
        recipe: passes and learning rates.
        options: of each RBM's training; the learning rate is the recipe's.
        data: the features, prepared.
        transform: the feature transform.
        save_seconds: time between two checkpoints within an RBM's training.
        progress_bar: show one on standard error.
    """

    def __init__(
        self,
        folder: RunFolder,
        config: DbnConfig,
        recipe: DbnRecipe,
        options: RbmTrainOptions,
        data: FeatureSet,
        transform: Nnet,
        *,
        save_seconds: float = 60.0,
        progress_bar: bool = False,
    ):
        self.folder = folder
        self.config = config
        self.recipe = recipe
        self.options = options
        self.data = data
        self.transform = transform
        self.history: list[RbmRow] = []
        self._points: dict[str, list[tuple[int, float]]] = {}
        self._save_seconds = save_seconds
        self._progress_bar = progress_bar
        self._front = keras_layers.to_layers(transform, "transform_", trainable=False)
        self._events = tf.summary.create_file_writer(folder.file("tensorboard"))

    def run(self) -> list[RbmRow]:
        """Trains all that is left to train; a row for each RBM."""
        self._resume()
        for number in range(len(self.history) + 1, self.config.nn_depth + 1):
            _LOG.info("PRE-TRAINING RBM LAYER %d", number)
            stack = self._stack(number - 1)
            if not os.path.exists(self._checkpoint(number)):
                self._start(number, stack)
            self._train(number, stack)
        self._finish()
        return self.history

    def _resume(self) -> None:
        stored = self.folder.load_state()
        if stored is None:
            self._save()
            return
        self.history = [RbmRow(**row) for row in stored["history"]]
        self._points = stored["points"]
        _LOG.info("going on in %s after %d RBMs", self.folder.path, len(self.history))

    def _file(self, number: int, end: str) -> str:
        return self.folder.file(f"{number}.{end}")

    def _stack(self, number: int) -> Nnet:
        """The network of the first RBMs; without components for none."""
        return nnet1.read(self._file(number, "dbn")) if number else Nnet([])

    def _start(self, number: int, stack: Nnet) -> None:
        """Writes an RBM's prototype and its initial weights."""
        cmvn = None
        if number > 1:
            cmvn = self._file(number, "cmvn")
            net = [*self._front, *self._layers(stack)]
            feats = itertools.islice(self.data.feats(), _UTTERANCES)
            stats = output_stats.measure(net, feats)
            nnet1.write(cmvn, nnet_edit.cmvn_to_nnet(stats), binary=False)
        inputs = stack.output_dim or self.transform.output_dim
        proto = self.config.proto(number, inputs, cmvn)
        self.folder.write_text(f"{number}.rbm.proto", proto)
        seed, path = self.config.seed, self._file(number, "rbm.proto")
        rbm = nnet_proto.initialize(proto, seed, name=path, rng=self.config.rng)
        init = self._file(number, "rbm.init")
        self._write(init, rbm)
        with self.folder.log(f"nnet-initialize.{number}.log") as log:
            log.write(proto.rstrip())
            log.write(f"Written initialized model to {init}")

    def _train(self, number: int, stack: Nnet) -> None:
        visible, hidden = self.config.types[number - 1]
        rate = self.recipe.learn_rate(visible)
        passes = self.recipe.passes(visible)
        _LOG.info(
            "pretraining %s (input %s, lrate %g, iters %d)",
            self._file(number, "rbm"),
            visible,
            rate,
            passes,
        )
        options = dataclasses.replace(
            self.options,
            ramp=dataclasses.replace(self.options.ramp, learn_rate=rate),
            seed=self.options.seed * 1009 + number,
        )
        front = self._layers(stack)
        if options.bfloat16:
            use_bfloat16(front)
        (init,) = nnet1.read(self._file(number, "rbm.init")).components
        trainer = RbmTrainer(cast(components.Rbm, init), options, front)
        with self.folder.log(f"rbm.{number}.log") as log:
            seconds = self._learn(number, trainer, passes, log)
            done = passes * len(self.data.lengths)
            rates = trainer.frames / seconds
            log.write(
                f"Done {passes} iterations, {done} files, skipped "
                f"{passes * self.data.skipped} files. [{seconds / 60:g} min, "
                f"processing {rates:g} frames per sec.]"
            )
            log.write(trainer.sums.report())
        rbm = Nnet([trainer.rbm()])
        self._write(self._file(number, "rbm"), rbm)
        below = [stack] if stack.components else []
        whole = nnet_edit.concat(*below, nnet_edit.rbm_to_nnet(rbm))
        self._write(self._file(number, "dbn"), whole)
        self.history.append(
            RbmRow(
                layer=number,
                visible_type=visible,
                hidden_type=hidden,
                visible_units=rbm.input_dim,
                hidden_units=rbm.output_dim,
                learn_rate=rate,
                passes=passes,
                frames=trainer.frames,
                loss=trainer.sums.loss,
                rms=trainer.sums.rms,
                seconds=seconds,
                frames_per_second=rates,
            )
        )
        self._save()
        self.folder.write_history(self.history)
        with contextlib.suppress(FileNotFoundError):
            os.remove(self._checkpoint(number))

    def _learn(self, number: int, trainer: RbmTrainer, passes: int, log: Log) -> float:
        """All passes, from a checkpoint if there is one; the seconds they took."""
        log.write(device.describe())
        at = _Progress(trainer, log)
        at.restore(self._checkpoint(number))
        points = self._points.setdefault(f"RBM {number}", [])
        starts = itertools.accumulate(self.data.cuts(passes), initial=0)
        pass_at = {filling: i for i, filling in enumerate(starts, 1)}
        fillings = self.data.fillings(self._front, passes, self.options.seed + number)
        saved = time.monotonic()
        with self._bar(number, trainer, passes) as moved:
            begun = time.perf_counter() - at.seconds
            for filling, rows in enumerate(fillings):
                if filling < at.fillings:
                    continue
                if filling in pass_at:
                    at.write(f"Iteration {pass_at[filling]}/{passes}")
                before = trainer.sums.error, trainer.frames
                trainer.train(rows["inputs"], at.write, moved)
                at.fillings += 1
                at.seconds = time.perf_counter() - begun
                if trainer.frames > before[1]:
                    mean = (trainer.sums.error - before[0]) / (
                        trainer.frames - before[1]
                    )
                    rms = float(np.sqrt(mean / trainer.sums.dim))
                    at.points.append((trainer.frames, rms))
                    self._event(number, trainer.frames, rms)
                if time.monotonic() - saved >= self._save_seconds:
                    at.save(self._checkpoint(number))
                    saved = time.monotonic()
        points[:] = at.points
        return at.seconds

    def _checkpoint(self, number: int) -> str:
        return self._file(number, "rbm.checkpoint.npz")

    def _event(self, number: int, frames: int, rms: float) -> None:
        with self._events.as_default(step=frames):
            tf.summary.scalar(f"rbm_{number}/reconstruction_rms", rms)

    def _layers(self, stack: Nnet) -> list[Any]:
        return keras_layers.to_layers(stack, "net_", trainable=False)

    def _write(self, path: str, nnet: Nnet) -> None:
        nnet1.write(path, nnet, binary=self.recipe.binary)

    def _save(self, done: bool = False) -> None:
        rows = [dataclasses.asdict(row) for row in self.history]
        self.folder.save_state({"history": rows, "points": self._points, "done": done})

    def _finish(self) -> None:
        last = f"{self.config.nn_depth}.dbn"
        for name in ("final.dbn", "final.nnet"):
            self.folder.link(last, name)
        model = dnn.assemble(
            self._front,
            keras_layers.to_layers(self._stack(self.config.nn_depth), "net_"),
            "acoustic_dbn",
        )
        save_whole(model.save, self.folder.file("final.keras"))
        save_whole(model.save_weights, self.folder.file("weights", "final.weights.h5"))
        name = os.path.basename(os.path.abspath(self.folder.path))
        rbm_history.draw(self._points, self.folder.file("curves.png"), name)
        self.folder.write_history(self.history)
        self._events.close()
        self.data.remove()
        self._save(done=True)

    @contextlib.contextmanager
    def _bar(self, number: int, trainer: RbmTrainer, passes: int) -> Iterator[Any]:
        """A bar over all passes, and what is called to move it."""
        total = passes * self.data.frames
        name = f"RBM {number}"
        with progress_bar(name, total, "frames", self._progress_bar) as move:
            sums = trainer.sums
            yield lambda: move(trainer.frames, f"error {sums.loss:.4f}")


class _Progress:
    """How far one RBM's training is, with what its log says so far."""

    def __init__(self, trainer: RbmTrainer, log: Log):
        self.fillings = 0
        self.seconds = 0.0
        self.points: list[tuple[int, float]] = []
        self._trainer = trainer
        self._log = log
        self._lines: list[str] = []

    def write(self, line: str) -> None:
        """A line for the log, which a checkpoint keeps."""
        self._lines.append(line)
        self._log.write(line)
        if line.startswith("WARNING "):
            _LOG.warning("%s", line.removeprefix("WARNING "))

    def save(self, path: str) -> None:
        """Replaces the checkpoint."""
        told = {
            "fillings": self.fillings,
            "seconds": self.seconds,
            "points": self.points,
            "lines": self._lines,
        }
        stream = io.BytesIO()
        arrays: dict[str, Any] = {"told": np.array(json.dumps(told))}
        np.savez(stream, **arrays, **self._trainer.state())
        output = files.Output(path)
        try:
            output.write(stream.getvalue())
            output.commit()
        except BaseException:
            output.discard()
            raise

    def restore(self, path: str) -> None:
        """Goes on from a checkpoint, if there is one."""
        if not os.path.exists(path):
            return
        with np.load(path, allow_pickle=False) as state:
            self._trainer.restore({name: state[name] for name in state.files})
            told = json.loads(str(state["told"]))
        self.fillings, self.seconds = told["fillings"], told["seconds"]
        self.points = [(at, error) for at, error in told["points"]]
        _LOG.info("going on after %d frames", self._trainer.frames)
        for line in told["lines"]:
            self._lines.append(line)
            self._log.write(line)
