"""Scores a trained network on a set: loss and frame accuracy as nnet1 counts them."""

import dataclasses
from typing import Any

from seqzoo import layers
from seqzoo.datasets import frame_blocks, frame_records
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.datasets.utterances import Utterances
from seqzoo.zoo.acoustic.trained_model import TrainedModel
from seqzoo.zoo.checkpoints import keras_layers
from seqzoo.zoo.training import frame_data
from seqzoo.zoo.training.frame_sums import FrameSums
from seqzoo.zoo.training.frame_trainer import FrameTrainer

_BUFFER_FRAMES = 32_768


@dataclasses.dataclass(frozen=True)
class Evaluation:
    """What a set gave."""

    sums: FrameSums
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
        objective: `xent` or `mse`.
        minibatch_size: frames.
        kaldi_tail: leave out the frames at the end that fill no minibatch, as nnet1
            does.
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
            f"{feats.feats_rspecifier}: features of {feats.dim} dimensions; the model "
            f"takes {first.input_dim}."
        )
    trainer = FrameTrainer(
        keras_layers.to_layers(model.nnet, "net_"),
        objective,
        layers.KaldiSGD(),
        minibatch_size,
    )
    blocks = frame_records.stream(
        lambda: frame_blocks.blocks(utterances, _BUFFER_FRAMES, minibatch_size),
        feats.dim,
    )
    data = frame_data.fillings(blocks, front, minibatch_size, drop_tail=kaldi_tail)
    sums = trainer.evaluate(data)
    frames = sums.per_class[3]
    return Evaluation(
        sums,
        utterances.num_done,
        utterances.no_targets,
        utterances.other_errors,
        float(frames.max() / max(frames.sum(), 1e-30)),
    )
