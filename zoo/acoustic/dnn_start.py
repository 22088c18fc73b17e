"""What there must be before the first epoch: feature transform and initial network."""

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

import numpy as np

from seqzoo.datasets import tables
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import (
    dbn_start,
    feature_transform,
    fine_tune,
    train_tools,
)
from seqzoo.zoo.acoustic.acoustic_config import AcousticConfig, context
from seqzoo.zoo.acoustic.cnn_config import CnnConfig
from seqzoo.zoo.acoustic.dnn_options import DnnRecipe
from seqzoo.zoo.acoustic.frame_set import FrameSet
from seqzoo.zoo.acoustic.frame_train_options import FrameTrainOptions
from seqzoo.zoo.checkpoints import along_time, components, nnet1, nnet_edit, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.training.run_folder import RunFolder

# What xent may end in; of a <ParallelComponent>, the branches count.
_SOFTMAXES = (components.Softmax, components.BlockSoftmax, components.Parallel)


@dataclasses.dataclass(frozen=True)
class DnnStart:
    """The feature transform and the initial network of a run.

    Args:
        config: of the network, with the data's dimensions.
        recipe: how they are made, or which files to take.
        options: of the training, which the network must fit.
    """

    config: AcousticConfig
    recipe: DnnRecipe
    options: FrameTrainOptions

    def write(self, folder: RunFolder, data: FrameSet, labels: Any) -> None:
        """Makes it and writes it under train.sh's names."""
        transform = self._transform(data, labels)
        if isinstance(self.config, CnnConfig):
            for name, text in self.config.pitch_protos(transform.output_dim).items():
                folder.write_text(name, text)
        below = []
        if self.recipe.dbn is not None:
            below = [dbn_start.read(self.recipe.dbn, transform.output_dim)]
        top, proto = self._init((below or [transform])[-1].output_dim)
        init = nnet_edit.concat(*below, top)
        init = fine_tune.tuned(init, self.recipe, folder, self.config)
        self._check(init, transform)
        if proto is not None:
            folder.write_text("nnet.proto", proto)
        nnet1.write(folder.file("nnet.init"), top if below else init)
        if below:
            nnet1.write(folder.file(dbn_start.INIT), init)
        nnet1.write(folder.file("final.feature_transform"), transform, binary=False)
        folder.write_text("feat_type", self.recipe.feat_type + "\n")
        for name in ("cmvn_opts", "delta_opts"):
            if getattr(self.recipe, name) is not None:
                folder.write_text(name, getattr(self.recipe, name) + "\n")
        if "xent" in self.options.objective:
            counts = np.zeros(init.output_dim, np.float32)
            counts[: len(data.counts.classes)] = data.counts.classes
            path = folder.file("ali_train_pdf.counts")
            tables.write_object(path, counts, binary=False)

    def _transform(self, data: FrameSet, labels: Any) -> Nnet:
        recipe = self.recipe
        path = recipe.feature_transform
        if path is None and recipe.dbn is not None:
            path = dbn_start.beside(recipe.dbn, "final.feature_transform")
        read = fine_tune.feature_transform(recipe)
        if path or read:
            path = path or f"{recipe.init}/final.feature_transform"
            read = read or nnet1.read(path)
            if read.input_dim != data.counts.dim:
                raise InputError(
                    f"{path}: takes {read.input_dim} dimensions, "
                    f"but the features (with deltas) have {data.counts.dim}."
                )
            return read
        # All utterances count, also those without targets, where they can be read.
        pipeline = data.pipeline
        return feature_transform.build(
            recipe.feat_type,
            pipeline.__iter__ if pipeline.replayable else data.feats,
            offsets=self.config.offsets if recipe.feat_type == "plain" else None,
            splice=0 if recipe.feat_type == "plain" else _splice(self.config),
            traps_dct_basis=recipe.traps_dct_basis,
            transf=_matrix(recipe),
            splice_after_transf=recipe.splice_after_transf,
            lda_dim=recipe.lda_dim,
            labels=labels if isinstance(labels, Mapping) else None,
            std_dev=recipe.feats_std,
        )

    def _init(self, input_dim: int) -> tuple[Nnet, str | None]:
        """The initial network, and its prototype if it was made from one."""
        if self.recipe.init:
            return fine_tune.network(self.recipe.init), None
        if self.recipe.mlp_init:
            return nnet1.read(self.recipe.mlp_init), None
        name, text = "nnet.proto", ""
        if self.recipe.mlp_proto:
            name = self.recipe.mlp_proto
            with open(name, encoding="utf-8") as file:
                text = file.read()
        text = text or self.config.proto(input_dim)
        config = self.config
        nnet = nnet_proto.initialize(text, config.seed, name=name, rng=config.rng)
        return nnet, text

    def _check(self, init: Nnet, transform: Nnet) -> None:
        recipe = self.recipe
        name = recipe.init or recipe.mlp_init or recipe.mlp_proto or "the network"
        if init.input_dim != transform.output_dim:
            raise InputError(
                f"{name}: takes {init.input_dim} dimensions, but the feature "
                f"transform puts out {transform.output_dim}."
            )
        if init.output_dim != self.config.pdfs:
            raise InputError(
                f"{name}: has {init.output_dim} outputs, but there are "
                f"{self.config.pdfs} targets"
                + (
                    f"; give --replace_output={self.config.pdfs}."
                    if recipe.init
                    else "."
                )
            )
        last = init.components[-1]
        ends = isinstance(last, _SOFTMAXES)
        if self.options.objective == "xent" and not ends:
            raise InputError(
                f"{name}: ends in {last.marker}, but objective xent needs <Softmax>; "
                "add it, or train with --objective_function=mse."
            )
        if train_tools.is_sequential(self.options.train_tool):
            return
        for number, component in enumerate(init.components, 1):
            if along_time.component_looks_along_time(component):
                raise InputError(
                    f"{name}: component {number} {component.marker} looks at frames in "
                    f"their order, but {self.options.train_tool} shuffles them; train "
                    "with --train_tool=nnet-train-multistream-perutt or another tool "
                    "for sequences."
                )


def _matrix(recipe: DnnRecipe) -> np.ndarray | None:
    if recipe.feat_type != "transf" or recipe.feature_transform:
        return None
    path = recipe.transf
    if path is None:
        if recipe.ali_train is None:
            raise InputError("feat_type transf needs a matrix; give --transf=FILE.")
        path = os.path.join(recipe.ali_train, "final.mat")
    if not os.path.exists(path):
        raise InputError(f"{path}: no such matrix; give --transf=FILE.")
    return tables.read_object(path, "matrix")


def _splice(config: AcousticConfig) -> int:
    return context(
        config.offsets,
        "feat_type plain alone takes any, the others symmetric ones without gaps. Give "
        "--feature_transform=FILE.",
    )
