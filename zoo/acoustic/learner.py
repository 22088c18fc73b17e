"""Learner: a network's trainer with the two sets it learns from and is scored on."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

import keras
import tensorflow as tf

from seqzoo import layers
from seqzoo.datasets import frames
from seqzoo.zoo.acoustic import train_tools
from seqzoo.zoo.acoustic.frame_set import FrameSet
from seqzoo.zoo.acoustic.frame_train_options import FrameTrainOptions
from seqzoo.zoo.training import frame_data, sequence_data
from seqzoo.zoo.training.frame_trainer import FrameTrainer, Sums
from seqzoo.zoo.training.sequence_trainer import SequenceTrainer

Net: TypeAlias = Sequence[keras.layers.Layer]
Fillings: TypeAlias = Iterable[dict[str, tf.Tensor]]


class Learner:
    """What an epoch is, whichever tool it is trained with.

    Args:
        trainer: of the network.
        train: gives the training set from an epoch on; each pass over it is the next.
        held_out: the held-out set.
        empty: what to tell where a set gives no minibatch.
    """

    def __init__(
        self,
        trainer: FrameTrainer,
        train: Callable[[int], Fillings],
        held_out: Fillings,
        empty: str,
    ):
        self.trainer = trainer
        self.optimizer = trainer.optimizer
        self.empty = empty
        self._make_train = train
        self._train: Fillings | None = None
        self._held_out = held_out

    def train(
        self,
        iteration: int,
        on_call: Callable[[Sums], Any] | None = None,
        on_edge: Callable[[str, dict[str, tf.Tensor]], Any] | None = None,
    ) -> Sums:
        """One epoch, counted from 1; after the first call always the next."""
        if self._train is None:
            self._train = self._make_train(iteration)
        return self.trainer.train(self._train, on_call, on_edge)

    def score(self, on_call: Callable[[Sums], Any] | None = None) -> Sums:
        """One pass over the held-out set without learning."""
        return self.trainer.evaluate(self._held_out, on_call)

    def utterances(self, held_out: bool) -> int | None:
        """How many the last pass took, where that may be fewer than the set has."""
        return getattr(self._held_out if held_out else self._train, "utterances", None)


def make(
    net: Net,
    front: Net,
    options: FrameTrainOptions,
    learn_rate: float,
    train: FrameSet,
    held_out: FrameSet,
) -> Learner:
    """The learner of a network for the tool that the options name.

    Args:
        net: layers.
        front: layers of the feature transform.
        options: of the training.
        learn_rate: the first.
        train: the training set, prepared.
        held_out: the held-out set, prepared.

    Raises:
        InputError: the network does not fit the tool.
    """
    optimizer = layers.KaldiSGD(
        learn_rate,
        options.momentum,
        options.l1_penalty,
        options.l2_penalty,
        options.minibatch_size,
    )
    of = _of_sequences if train_tools.is_sequential(options.train_tool) else _of_frames
    return of(net, front, options, optimizer, train, held_out)


def _of_frames(
    net: Net,
    front: Net,
    options: FrameTrainOptions,
    optimizer: layers.KaldiSGD,
    train: FrameSet,
    held_out: FrameSet,
) -> Learner:
    def epochs(data: FrameSet, order: frames.Permutation | None) -> Fillings:
        return frame_data.Epochs(
            data.dataset(), front, options.minibatch_size, order, options.kaldi_tail
        )

    def from_epoch(iteration: int) -> Fillings:
        if not options.randomize:
            return epochs(train, None)
        first = (iteration - 1) * train.counts.blocks
        order = frames.seeded_permutation(options.randomizer_seed, first=first)
        return epochs(train, order)

    return Learner(
        FrameTrainer(
            net,
            options.objective,
            optimizer,
            options.minibatch_size,
            options.loss_report_frames,
        ),
        from_epoch,
        epochs(held_out, None),
        f"do not fill a minibatch of {options.minibatch_size}; give more data or a "
        "smaller minibatch_size, or leave kaldi_tail off.",
    )


def _of_sequences(
    net: Net,
    front: Net,
    options: FrameTrainOptions,
    optimizer: layers.KaldiSGD,
    train: FrameSet,
    held_out: FrameSet,
) -> Learner:
    kind: Any = train_tools.kind(options.train_tool)
    batching = sequence_data.Batching(
        kind=kind,
        num_streams=options.num_streams,
        batch_size=options.batch_size,
        max_frames=options.max_frames,
        kaldi_tail=options.kaldi_tail,
    )

    def from_epoch(iteration: int) -> Fillings:
        seed = options.randomizer_seed if options.randomize else None
        return sequence_data.SequenceEpochs(
            train.dataset(), front, batching, seed, iteration - 1
        )

    return Learner(
        SequenceTrainer(
            net,
            options.objective,
            optimizer,
            batching,
            options.loss_report_frames,
            options.kaldi_gradients,
        ),
        from_epoch,
        sequence_data.SequenceEpochs(held_out.dataset(), front, batching),
        f"make no minibatch of {options.num_streams} streams; give more utterances or "
        "a smaller num_streams, or leave kaldi_tail off.",
    )
