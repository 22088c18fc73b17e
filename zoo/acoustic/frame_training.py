"""Training by newbob, in a run folder that can be resumed."""

import contextlib
import dataclasses
import logging
import os
import time
from collections.abc import Iterator
from typing import Any

import tensorflow as tf

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import dnn, learner
from seqzoo.zoo.acoustic.frame_set import FrameSet
from seqzoo.zoo.acoustic.frame_train_options import FrameTrainOptions
from seqzoo.zoo.acoustic.run_view import RunView
from seqzoo.zoo.checkpoints import keras_layers, nnet1
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.training import curves, debug, device, newbob
from seqzoo.zoo.training.frame_trainer import Sums, use_bfloat16
from seqzoo.zoo.training.history import EpochRow
from seqzoo.zoo.training.run_folder import Log, RunFolder

__all__ = ["FrameTrainOptions", "FrameTraining", "save_whole"]

_LOG = logging.getLogger(__name__)


class FrameTraining:
    """One run.

    Args:
        folder: where all goes.
        options: of the training.
        schedule: of the learning rate.
        train: the training set, prepared.
        held_out: the held-out set, prepared.
        transform: the feature transform.
        init: the initial network.
        name: of the Keras model that is left at the end.
        init_name: file of `init` in the folder, whose stem begins the names of the
            networks.
    """

    def __init__(
        self,
        folder: RunFolder,
        options: FrameTrainOptions,
        schedule: newbob.NewbobOptions,
        train: FrameSet,
        held_out: FrameSet,
        transform: Nnet,
        init: Nnet,
        name: str = "acoustic",
        init_name: str = "nnet.init",
    ):
        self.folder = folder
        self.options = options
        self.schedule = schedule
        self.train_set = train
        self.held_out = held_out
        self.transform = transform
        self.init = init
        self.name = name
        self.init_name = init_name
        self.history: list[EpochRow] = []
        self._net = keras_layers.to_layers(
            init, "net_", kaldi_gradients=options.kaldi_gradients
        )
        if options.bfloat16:
            use_bfloat16(self._net)
        self._learner = learner.make(
            self._net,
            keras_layers.to_layers(transform, "transform_", trainable=False),
            options,
            schedule.learn_rate,
            train,
            held_out,
        )
        self._dropout = _rates(options.dropout_schedule)
        if self._dropout and not self._learner.trainer.set_dropout(self._dropout[0]):
            raise InputError(
                f"dropout_schedule is {options.dropout_schedule!r}, but the network "
                "has no <Dropout>; leave it out, or put <Dropout> into the network: "
                "by --set dropout_rate of a new DNN, or by --mlp_proto."
            )
        self._loaded = init_name
        self._view = RunView(folder, options.progress_bar)
        self._last: tuple[Sums, Sums, float] | None = None

    def run(self) -> newbob.NewbobState:
        """Trains to the end of the schedule, from wherever the folder stands.

        Returns:
            The schedule's final state; `best` is the network in `nnet/`.

        Raises:
            InputError: no epoch was accepted.
        """
        state = self._resume()
        if state is None:
            state = self._score_init()
        base = self.init_name.removesuffix(".init")
        steps = newbob.run(self.schedule, state, base, self._train_epoch)
        for state, epoch in steps:
            self._keep(state, epoch)
        if not state.accepted:
            raise InputError(
                f"{self.folder.path}: no epoch improved on the initial network; lower "
                "learn_rate, or look at log/."
            )
        self._finish(state)
        return state

    def _resume(self) -> newbob.NewbobState | None:
        stored = self.folder.load_state()
        if stored is None:
            return None
        self.history = [EpochRow(**row) for row in stored["history"]]
        state = newbob.NewbobState(**stored["newbob"])
        if not state.finished:
            _LOG.info(
                "going on in %s after %d epochs", self.folder.path, state.iteration
            )
        return state

    def _score_init(self) -> newbob.NewbobState:
        with self._log("iter00.initial.log") as log:
            sums, _ = self._score(log, "initial")
        kind = self.options.objective.capitalize()
        if kind.startswith("Multitask"):
            kind = "MultiTaskLoss"
        _LOG.info("CROSSVAL PRERUN AVG.LOSS %.4f (%s),", sums.loss, kind)
        state = newbob.start(self.schedule, self.init_name, sums.loss)
        self._save(state)
        return state

    def _train_epoch(
        self, iteration: int, learn_rate: float, best: str
    ) -> tuple[float, float]:
        self._load(best)
        self._learner.optimizer.learning_rate = learn_rate
        self._learner.optimizer.reset()
        seed = self.options.randomizer_seed
        self._learner.trainer.seed_dropout(seed, iteration)
        if self._dropout:
            rate = self._dropout[min(iteration, len(self._dropout)) - 1]
            self._learner.trainer.set_dropout(rate)
        padded = f"{iteration:0{len(str(self.schedule.max_iters))}d}"
        with self._log(f"iter{padded}.tr.log") as log:
            trained, seconds = self._learn(log, f"epoch {padded}", iteration)
        with self._log(f"iter{padded}.cv.log") as log:
            scored, _ = self._score(log, f"epoch {padded}")
        self._loaded = ""
        self._last = trained, scored, seconds
        return trained.loss, scored.loss

    def _learn(self, log: Log, name: str, iteration: int) -> tuple[Sums, float]:
        seen = 0.0
        marker = {"first": "start", "last": "end"}

        def on_edge(edge: str, batch: dict[str, tf.Tensor]) -> None:
            if self.options.statistics:
                done = 0 if edge == "first" else int(seen)
                log.write(f"### After {done} frames, ({marker[edge]} of the epoch)")
                log.write(debug.statistics(self._net, self.options.objective, batch))

        wanted = self.options.profile and iteration == 1
        with self._view.progress(name, self.train_set.counts.frames) as bar:
            with self._view.profile(wanted) as profiler:

                def on_call(sums: Sums) -> None:
                    nonlocal seen
                    seen = sums.frames
                    bar(sums)
                    profiler()

                begun = time.perf_counter()
                edges = on_edge if self.options.statistics else None
                sums = self._learner.train(iteration, on_call, edges)
                seconds = time.perf_counter() - begun
        shuffled = "RANDOMIZED" if self.options.randomize else "NOT-RANDOMIZED"
        self._summary(log, self.train_set, sums, seconds, f"TRAINING, {shuffled}")
        return sums, seconds

    def _score(self, log: Log, name: str) -> tuple[Sums, float]:
        frames = self.held_out.counts.frames
        with self._view.progress(f"{name}, held out", frames) as bar:
            begun = time.perf_counter()
            sums = self._learner.score(bar)
            seconds = time.perf_counter() - begun
        kind = "CROSS-VALIDATION, NOT-RANDOMIZED"
        self._summary(log, self.held_out, sums, seconds, kind)
        return sums, seconds

    def _summary(
        self, log: Log, data: FrameSet, sums: Sums, seconds: float, kind: str
    ) -> None:
        counts = data.counts
        if not sums.minibatches:
            raise InputError(f"{counts.frames} frames {self._learner.empty}")
        done = self._learner.utterances(held_out=data is self.held_out)
        done = counts.done if done is None else done
        log.write(
            f"Done {done} files, {counts.no_targets} with no tgt_mats, "
            f"{counts.other_errors} with other errors. "
            f"[{kind}, {seconds / 60:g} min, fps{sums.frames / seconds:g}]"
        )
        if per_class := sums.per_class_report():
            log.write(per_class + "\n")
        log.write(sums.report())

    def _keep(self, state: newbob.NewbobState, epoch: newbob.NewbobEpoch) -> None:
        """Stores an epoch's network, then the state that names it."""
        assert self._last is not None
        trained, scored, seconds = self._last
        net = keras_layers.to_nnet(self._net)
        nnet1.write(
            self.folder.file("nnet", epoch.name), net, binary=self.options.binary
        )
        self._loaded = epoch.name
        row = EpochRow(
            iteration=epoch.iteration,
            learn_rate=epoch.learn_rate,
            train_loss=epoch.train_loss,
            cv_loss=epoch.cv_loss,
            train_accuracy=trained.accuracy,
            cv_accuracy=scored.accuracy,
            accepted=epoch.accepted,
            frames=trained.frames,
            seconds=seconds,
            frames_per_second=trained.frames / seconds,
            name=epoch.name,
        )
        self.history.append(row)
        self._save(state)
        self.folder.write_history(self.history)
        self._view.write_events(row)
        _LOG.info("%s", epoch.line)

    def _save(self, state: newbob.NewbobState, done: bool = False) -> None:
        self.folder.save_state(
            {
                "newbob": dataclasses.asdict(state),
                "history": [dataclasses.asdict(row) for row in self.history],
                "done": done,
            }
        )

    def _finish(self, state: newbob.NewbobState) -> None:
        _LOG.info("finished, %s", state.finished)
        best = os.path.join("nnet", state.best)
        final = f"{best}_final_"
        self.folder.link(best, final)
        self.folder.link(best, "final.nnet")
        self._load(state.best)
        model = dnn.assemble(
            keras_layers.to_layers(self.transform, "transform_", trainable=False),
            keras_layers.to_layers(keras_layers.to_nnet(self._net), "net_"),
            self.name,
        )
        save_whole(model.save, self.folder.file("final.keras"))
        save_whole(model.save_weights, self.folder.file("weights", "final.weights.h5"))
        name = os.path.basename(os.path.abspath(self.folder.path))
        curves.draw(self.history, self.folder.file("curves.png"), name)
        self.folder.write_history(self.history)
        self.train_set.remove()
        self.held_out.remove()
        self._save(state, done=True)

    def _load(self, name: str) -> None:
        """Brings the weights of a stored network into the layers."""
        if name == self._loaded:
            return
        parts = [name] if name == self.init_name else ["nnet", name]
        keras_layers.set_weights(self._net, nnet1.read(self.folder.file(*parts)))
        self._loaded = name

    @contextlib.contextmanager
    def _log(self, name: str) -> Iterator[Log]:
        with self.folder.log(name) as log:
            log.write(device.describe())
            yield log


def _rates(schedule: str) -> list[float]:
    """Dropout rates by epoch."""
    try:
        rates = [float(word) for word in schedule.split(",") if word]
    except ValueError:
        rates = [-1.0]
    if any(not 0 <= rate < 1 for rate in rates):
        raise InputError(
            f"dropout_schedule is {schedule!r}; rates from 0 to below 1 with commas "
            "between are taken, one an epoch."
        )
    return rates


def save_whole(save: Any, path: str) -> None:
    """Saves by Keras under another name of the same ending, then renames."""
    folder, name = os.path.split(path)
    partial = os.path.join(folder, f"partial.{name}")
    try:
        save(partial)
        os.replace(partial, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.remove(partial)
        raise
