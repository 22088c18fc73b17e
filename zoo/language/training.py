"""The training of a language model, in a run folder that can be resumed."""

import dataclasses
import functools
import logging
import math
import os
import shutil
import time
from typing import Any

import numpy as np
import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.gbw_cache import Cache
from seqzoo.datasets.language_batches import Streams
from seqzoo.datasets.multi_sequence import MultiSequence, State
from seqzoo.datasets.sentences import Sentences
from seqzoo.datasets.text_columns import TextColumns
from seqzoo.zoo.language import evaluate, learn_rate, learning_curves, run_files
from seqzoo.zoo.language.language_model import LanguageModel
from seqzoo.zoo.language.language_row import LanguageRow
from seqzoo.zoo.language.train_options import LanguageTrainOptions
from seqzoo.zoo.language.trainer import LanguageTrainer, Sums, slots
from seqzoo.zoo.training import weight_files
from seqzoo.zoo.training.run_display import profiled, progress_bar
from seqzoo.zoo.training.run_folder import RunFolder

_LOG = logging.getLogger(__name__)
_REDRAWN = 30.0  # Seconds after which the curves are drawn anew.
# Keras's file is made of whole copies of the tables.
_LARGEST_KERAS_FILE = 1 << 29


@dataclasses.dataclass
class Progress:
    """Where a training stands between two epochs; `state.json` holds it."""

    epoch: int = 0
    """Epochs that were done."""

    learn_rate: float = 0.0
    """Of the next epoch."""

    best_error: float | None = None
    best_epoch: int = 0
    weights: str = ""
    """In `weights/`, of the best epoch."""

    last: str = ""
    """The same of the last epoch."""

    train_state: list[int] | None = None
    valid_state: list[int] | None = None
    """Where in the data training and validation go on."""

    finished: str = ""
    """Why it ended; empty until then."""

    complete: bool = False
    """Whether all that comes at the end was written too."""

    history: list[dict[str, Any]] = dataclasses.field(default_factory=list)


class LanguageTraining:
    """One run.

    Args:
        folder: where all goes; `config.json` and the vocabulary are there.
        options: of the training.
        model: with initial weights and its noise's tables.
        cache: the data.
        progress_bar: whether bars are shown on standard error.
        profile: whether the first steps are profiled.
        begin: what to begin with in a new folder.
    """

    def __init__(
        self,
        folder: RunFolder,
        options: LanguageTrainOptions,
        model: LanguageModel,
        optimizer: layers.RowSGD,
        cache: Cache,
        *,
        progress_bar: bool = False,
        profile: bool = False,
        begin: Progress | None = None,
    ):
        self.folder = folder
        self.options = options
        self.model = model
        self.cache = cache
        self.trainer = LanguageTrainer(
            model, optimizer, options.maxnormout, options.seqlen
        )
        self.progress = begin or Progress(learn_rate=options.startlr)
        self._bar = progress_bar
        self._profile = profile
        self._events = tf.summary.create_file_writer(folder.file("tensorboard"))
        self._rows: list[LanguageRow] = []
        self._drawn = -math.inf

    def run(self) -> Progress:
        """Trains to the end, from wherever the folder stands."""
        stored = self.folder.load_state()
        if stored is not None:
            self.progress = Progress(**stored)
            self._rows = [LanguageRow(**row) for row in self.progress.history]
            # More epochs than before may be wanted.
            self.progress.finished = self._why_end()
            if self.progress.finished and self.progress.complete:
                return self.progress
            self._load_last()
            _LOG.info(
                "going on in %s after %d epochs", self.folder.path, self.progress.epoch
            )
            self._write_history()
        self._remove_old()
        train_size, valid_size = self.options.batch_sizes
        train = self._streams("train", train_size, self.progress.train_state)
        valid = self._streams("valid", valid_size, self.progress.valid_state)
        while not self.progress.finished:
            self._epoch(train, valid)
        self._finish()
        self.progress.complete = True
        self.folder.save_state(dataclasses.asdict(self.progress))
        return self.progress

    def _streams(self, name: str, columns: int, state: list[int] | None) -> Streams:
        at = None if state is None else State.from_array(np.array(state))
        if self.cache.characters:
            return TextColumns(self.cache.sets[name].ids, columns, at)
        return MultiSequence(self.cache.sets[name], columns, state=at)

    def _epoch(self, train: Streams, valid: Streams) -> None:
        now, options = self.progress, self.options
        epoch = now.epoch + 1
        self.trainer.optimizer.learning_rate = now.learn_rate
        _LOG.info("epoch %d, learning rate %g", epoch, now.learn_rate)
        began = time.perf_counter()
        learned, train_state = self._pass(train, f"epoch {epoch}")
        seconds = time.perf_counter() - began
        self._check("training", learned)
        output = self.model.output_layer
        if epoch == 1 and getattr(output, "initial_z", 1) <= 0:
            _LOG.info("Z = %g, as it was estimated in the first step", output.z.value)
        speed = learned.words / seconds
        _LOG.info(
            "Speed : %.0f words/second; %.5f ms/word", speed, 1000 / max(speed, 1e-9)
        )
        scored, valid_state = self._pass(valid, f"validation {epoch}", learn=False)
        self._check("validation", scored)
        perplexity = None
        if options.valid_perplexity and epoch % options.valid_perplexity == 0:
            some = self._some_valid(options.steps(False, valid.size) * valid.columns)
            perplexity = evaluate.evaluate_with(self._scorer, some).perplexity
        best = now.best_error is None or scored.error < now.best_error
        row = LanguageRow(
            epoch=epoch,
            learn_rate=now.learn_rate,
            train_error=learned.error,
            valid_error=scored.error,
            valid_perplexity=perplexity,
            best=best,
            words=learned.words,
            seconds=seconds,
            words_per_second=speed,
            gradient_norm=(
                learned.norm / max(learned.updates, 1) if options.cutoff > 0 else None
            ),
        )
        self._tell(row)
        self._rows.append(row)
        name = f"epoch_{epoch:04d}"
        self._save_weights(name)
        self.progress = Progress(
            epoch=epoch,
            learn_rate=learn_rate.after(epoch, now.learn_rate, options),
            best_error=scored.error if best else now.best_error,
            best_epoch=epoch if best else now.best_epoch,
            weights=name if best else now.weights,
            last=name,
            train_state=train_state,
            valid_state=valid_state,
            history=[dataclasses.asdict(one) for one in self._rows],
        )
        self.progress.finished = self._why_end()
        self.folder.save_state(dataclasses.asdict(self.progress))
        self._remove_old()
        self._write_history()

    @functools.cached_property
    def _scorer(self) -> evaluate.WordScorer:
        return evaluate.WordScorer(self.model)

    def _check(self, name: str, sums: Sums) -> None:
        """Raises an InputError for an error that is no number."""
        if not math.isfinite(sums.error):
            now = self.progress
            raise InputError(
                f"{self.folder.path}: the {name} error of epoch {now.epoch + 1} is "
                f"{sums.error}, at a learning rate of {now.learn_rate:g}; take a "
                "smaller --startlr, or --cutoff, in another folder."
            )

    def _some_valid(self, words: int) -> Sentences:
        """The first sentences for validation with so many words, about."""
        every = self.cache.sets["valid"]
        count = max(1, int(np.searchsorted(every.starts, words, "right")) - 1)
        return Sentences(every.ids[: every.starts[count]], every.starts[: count + 1])

    def _pass(
        self, streams: Streams, name: str, learn: bool = True
    ) -> tuple[Sums, list[int]]:
        """An epoch's chunks; also where the streams stand after them."""
        steps = self.options.steps(learn, streams.size)
        # A chunk takes a millisecond. tf.data's generators would make it no faster, and
        # have the process give its memory back after every step.
        data = streams.chunks(self.options.seqlen, steps)
        state = self.trainer.zero_state(streams.columns)
        sums, place = Sums(), streams.state.to_array()
        step = self.trainer.train if learn else self.trainer.score
        profile = self._profile and learn
        self._profile &= not learn
        with (
            progress_bar(name, steps, "steps", self._bar) as move,
            profiled(self.folder.file("tensorboard"), profile) as count,
        ):
            for chunk in data:
                ids = tf.constant(chunk.inputs), tf.constant(chunk.targets)
                state = step(*ids, state, sums)
                place = chunk.state.to_array()
                move(sums.time_steps, f"error {sums.error:.4f}")
                count()
        return sums, place.tolist()

    def _tell(self, row: LanguageRow) -> None:
        more = ""
        if row.valid_perplexity is not None:
            more = f", validation perplexity {row.valid_perplexity:.3f} (full softmax)"
        _LOG.info(
            "epoch %d: training error %.5f, validation error %.5f%s%s",
            row.epoch,
            row.train_error,
            row.valid_error,
            ", the best so far" if row.best else "",
            more,
        )
        with self._events.as_default(step=row.epoch):
            for name, value in dataclasses.asdict(row).items():
                if name not in ("epoch", "best") and value is not None:
                    tf.summary.scalar(name, value)
        self._events.flush()

    def _why_end(self) -> str:
        now = self.progress
        if now.epoch >= self.options.maxepoch:
            return "maxepoch"
        if now.epoch - now.best_epoch >= self.options.earlystop:
            return "earlystop"
        return ""

    def _save_weights(self, name: str) -> None:
        for path, values in self._stored(name).items():
            shutil.rmtree(path, ignore_errors=True)
            weight_files.save(path, values)

    def _load_last(self) -> None:
        for path, values in self._stored(self.progress.last).items():
            weight_files.load(path, values)

    def _stored(self, name: str) -> dict[str, dict[str, Any]]:
        """Folders of an epoch, and what is in each."""
        return {
            self.folder.file(run_files.WEIGHTS, name): self.model.named_weights(),
            self.folder.file("resume", name): slots(self.trainer.optimizer, self.model),
        }

    def _remove_old(self) -> None:
        """Removes weights that are neither the best nor the last."""
        now = self.progress
        kept = {
            run_files.WEIGHTS: {now.weights, now.last},
            "resume": {now.last},
        }
        for inside, names in kept.items():
            for name in os.listdir(self.folder.file(inside)):
                if name not in names and name.startswith("epoch_"):
                    shutil.rmtree(self.folder.file(inside, name), ignore_errors=True)

    def _write_history(self) -> None:
        self.folder.write_history(self._rows)
        # Drawing takes half a second, which an epoch of a small text does not.
        if self.progress.finished or time.monotonic() - self._drawn > _REDRAWN:
            learning_curves.draw([self.folder.path], self.folder.file("curves.png"))
            self._drawn = time.monotonic()

    def _finish(self) -> None:
        now = self.progress
        _LOG.info(
            "finished (%s); the best epoch is %d, validation error %.5f",
            now.finished,
            now.best_epoch,
            now.best_error,
        )
        best = self.folder.file(run_files.WEIGHTS, now.weights)
        weight_files.load(best, self.model.named_weights())
        size = 4 * self.model.parameters
        if size > _LARGEST_KERAS_FILE:
            _LOG.info(
                "final.keras is left out: it would take copies of %.1f GB of weights; "
                "`seqzoo export` makes a SavedModel of them.",
                size / 1e9,
            )
            return
        path = self.folder.file("final.partial.keras")
        self.model.save(path)
        os.replace(path, self.folder.file("final.keras"))
