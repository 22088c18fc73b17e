"""Scores a trained network on a set: loss and frame accuracy as nnet1 counts them."""

import dataclasses
from collections.abc import Sequence
from typing import Any, TypeAlias

import keras

from seqzoo import layers
from seqzoo.datasets import frame_blocks, frame_records
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.datasets.utterances import Utterances
from seqzoo.zoo.acoustic.trained_model import TrainedModel
from seqzoo.zoo.checkpoints import along_time, keras_layers
from seqzoo.zoo.training import frame_data
from seqzoo.zoo.training.frame_trainer import FrameTrainer, Sums
from seqzoo.zoo.training.sequence_data import Batching, SequenceEpochs
from seqzoo.zoo.training.sequence_trainer import SequenceTrainer

Net: TypeAlias = Sequence[keras.layers.Layer]

_BUFFER_FRAMES = 32_768
_SEQUENCE_FRAMES = 200_000


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What a set gave."""

    sums: Sums
    done: int
    no_targets: int
    other_errors: int
    majority: float
    """Share of the most frequent class, in [0, 1]: the accuracy of always saying it."""


def evaluate(
    model: TrainedModel,
    feats: FeaturePipeline,
    targets: Any,
    *,
    objective: str = "xent",
    minibatch_size: int = 256,
    kaldi_tail: bool = False,
    **options: Any,
) -> Evaluation:
    """Scores a set.

    Args:
        model: the network with its feature transform.
        feats: features, as they went into training.
        targets: rspecifier of labels or posteriors, or a mapping.
        objective: as of `FrameTrainer`.
        minibatch_size: frames; networks with layers along time run on whole utterances
            instead.
        kaldi_tail: leave out the frames at the end that fill no minibatch, or the last
            utterance, as nnet1 does.
        options: of `Utterances`: weights, length tolerance.

    Raises:
        InputError: as reading does; or the features do not fit the network.
    """
    utterances = Utterances(
        feats, targets, num_targets=model.nnet.output_dim, **options
    )
    front = []
    first = model.nnet
    if model.feature_transform is not None:
        first = model.feature_transform
        front = keras_layers.to_layers(first, "transform_", trainable=False)
    if feats.dim != first.input_dim:
        raise InputError(
            f"{feats.name}: features of {feats.dim} dimensions; the model "
            f"takes {first.input_dim}."
        )
    net = keras_layers.to_layers(model.nnet, "net_")
    if any(map(along_time.looks_along_time, net)):
        sums = _score_sequences(
            net, front, utterances, feats.dim, objective, kaldi_tail
        )
    else:
        sums = _score_frames(
            net, front, utterances, feats.dim, objective, minibatch_size, kaldi_tail
        )
    frames = sums.per_class[3]
    return Evaluation(
        sums,
        utterances.num_done,
        utterances.no_targets,
        utterances.other_errors,
        float(frames.max() / max(frames.sum(), 1e-30)),
    )


def _score_frames(
    net: Net,
    front: Net,
    utterances: Utterances,
    dim: int,
    objective: str,
    minibatch_size: int,
    kaldi_tail: bool,
) -> Sums:
    blocks = frame_records.stream(
        lambda: frame_blocks.blocks(utterances, _BUFFER_FRAMES, minibatch_size), dim
    )
    trainer = FrameTrainer(net, objective, layers.KaldiSGD(), minibatch_size)
    return trainer.evaluate(
        frame_data.fillings(blocks, front, minibatch_size, drop_tail=kaldi_tail)
    )


def _score_sequences(
    net: Net,
    front: Net,
    utterances: Utterances,
    dim: int,
    objective: str,
    kaldi_tail: bool,
) -> Sums:
    """On whole utterances of like lengths, each from a state of zeros."""
    blocks = frame_records.stream(
        lambda: frame_blocks.blocks(utterances, _SEQUENCE_FRAMES, 1), dim
    )
    batching = Batching(
        kind="multistream-perutt", num_streams=20, kaldi_tail=kaldi_tail
    )
    trainer = SequenceTrainer(net, objective, layers.KaldiSGD(), batching)
    return trainer.evaluate(SequenceEpochs(blocks, front, batching))
