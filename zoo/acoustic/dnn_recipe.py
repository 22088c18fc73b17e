"""The recipe of `acoustic/dnn`: from tables or data directories to a trained run."""

import dataclasses
import hashlib
import logging
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from seqzoo.datasets import alignments, tables
from seqzoo.datasets.data_dir import DataDir
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.datasets.utterances import Utterances
from seqzoo.zoo import registry
from seqzoo.zoo.acoustic import feature_transform
from seqzoo.zoo.acoustic.dnn_config import DnnConfig
from seqzoo.zoo.acoustic.frame_set import Copy, FrameSet
from seqzoo.zoo.acoustic.frame_training import FrameTraining, FrameTrainOptions
from seqzoo.zoo.checkpoints import components, nnet1, nnet_proto
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.training import newbob
from seqzoo.zoo.training.run_folder import RunFolder

_LOG = logging.getLogger(__name__)


@dataclasses.dataclass(frozen=True, kw_only=True)
class SetSource:
    """Where one set's features come from."""

    feats: str
    """rspecifier."""

    cmvn: str | None = None
    """rspecifier of statistics by speaker."""

    utt2spk: str | None = None
    """rspecifier."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class DnnRecipe:
    """All that steps/nnet/train.sh is told."""

    train: SetSource | str
    """Training features; a string is a data directory."""

    held_out: SetSource | str
    """Held-out features."""

    ali_train: str | None = None
    """Alignment directory of the training set."""

    ali_held_out: str | None = None
    """Alignment directory of the held-out set."""

    labels: str | None = None
    """rspecifier of targets for both sets, instead of alignments."""

    held_out_labels: str | None = None
    """rspecifier of targets of the held-out set, where they are in a table apart."""

    num_tgt: int | None = None
    """Outputs of the network; None is the alignments' number of pdfs."""

    frame_weights: str | None = None
    """rspecifier of vectors, for both sets."""

    utt_weights: str | None = None
    """rspecifier of numbers, for both sets."""

    cmvn_opts: str | None = None
    """apply-cmvn's options; None leaves features as they are."""

    delta_opts: str | None = None
    """add-deltas' options; None adds none."""

    feat_type: str = "plain"
    """`plain`, `traps`, `transf` or `lda`."""

    feature_transform: str | None = None
    """nnet1 file to use instead of making one."""

    traps_dct_basis: int = 11
    """Cosines for each feature dimension."""

    transf: str | None = None
    """Matrix file to import; None is final.mat of the alignment directory."""

    splice_after_transf: int = 5
    """Frames of context after it."""

    lda_dim: int = 300
    """Dimension after LDA."""

    feats_std: float = 1.0
    """Standard deviation of the network's inputs."""

    mlp_proto: str | None = None
    """Prototype file to use instead of the config's."""

    mlp_init: str | None = None
    """nnet1 file to start from."""

    length_tolerance: int = 5
    """Frames by which targets and features may differ, exclusive."""

    max_frames: int = 360_000
    """Longer utterances are left out."""

    randomizer_size: int = 32_768
    """Frames in the buffer that is shuffled."""

    shuffle_seed: int = 777
    """Of the order of the utterances."""

    copy_feats: bool = True
    """Read a shuffled local copy of the features in every epoch."""

    copy_feats_tmproot: str | None = None
    """Directory for the copy; None is the run folder."""

    copy_feats_compress: bool | None = None
    """Whether the copy holds 8 bits a value, as train.sh makes it; None does where
    data directories are given, as to train.sh, and not where tables are."""

    allow_pipes: bool = False
    """Whether entries of scp files may be commands."""


def train(
    path: str,
    command: Sequence[str],
    overrides: Sequence[str],
    recipe: DnnRecipe,
    options: FrameTrainOptions,
    schedule: newbob.NewbobOptions,
) -> newbob.NewbobState:
    """Trains into a run folder, or goes on where it was stopped.

    Args:
        path: the run folder.
        command: the words that were typed, for the logs.
        overrides: settings of `DnnConfig` as `field=value`.
        recipe: data and feature transform.
        options: of the training.
        schedule: of the learning rate.

    Returns:
        The final state of the schedule.

    Raises:
        InputError: anything wrong with what was given.
    """
    config = registry.config("acoustic/dnn", overrides)
    # Read before anything is written: most mistakes show here.
    labels, held_out_labels, num_targets = _targets(recipe, config, overrides)
    sources = {
        name: _pipeline(source, recipe, what)
        for name, source, what in (
            ("train", recipe.train, "training"),
            ("held_out", recipe.held_out, "held-out"),
        )
    }
    if sources["train"].order is not None:
        sources["train"] = sources["train"].shuffled(recipe.shuffle_seed)
    for name in (recipe.mlp_proto, recipe.mlp_init, recipe.feature_transform):
        if name is not None and not os.path.exists(name):
            raise InputError(f"{name}: no such file.")
    folder = RunFolder(path, command)
    with folder.removed_on_failure():
        folder.begin(
            {
                "model": "acoustic/dnn",
                "config": dataclasses.asdict(config),
                "recipe": dataclasses.asdict(recipe),
                "options": _lasting(options),
                "schedule": dataclasses.asdict(schedule),
            }
        )
        stored = folder.load_state()
        if stored is not None and stored["done"]:
            state = newbob.NewbobState(**stored["newbob"])
            _LOG.info("%s: finished before, %s", path, state.finished)
            return state
        sets = [
            _frame_set(name, pipeline, targets, num_targets, recipe, options, folder)
            for name, pipeline, targets in (
                ("train", sources["train"], labels),
                ("held_out", sources["held_out"], held_out_labels),
            )
        ]
        for data in sets:
            data.prepare()
        _check_same_dim(*sets)
        if stored is None:
            _check_dim(config, sets[0].counts.dim, overrides)
            start = _Start(
                dataclasses.replace(
                    config, feature_dim=sets[0].counts.dim, pdfs=num_targets
                ),
                recipe,
                options,
            )
            start.write(folder, sets[0], labels)
        training = FrameTraining(
            folder,
            options,
            schedule,
            *sets,
            transform=nnet1.read(folder.file("final.feature_transform")),
            init=nnet1.read(folder.file("nnet.init")),
        )
        return training.run()


@dataclasses.dataclass(frozen=True)
class _Start:
    """What there must be before the first epoch."""

    config: DnnConfig
    recipe: DnnRecipe
    options: FrameTrainOptions

    def write(self, folder: RunFolder, data: FrameSet, labels: Any) -> None:
        """Makes it and writes it under train.sh's names."""
        transform = self._transform(data, labels)
        init, proto = self._init(transform.output_dim)
        self._check(init, transform)
        if proto is not None:
            folder.write_text("nnet.proto", proto)
        nnet1.write(folder.file("nnet.init"), init)
        nnet1.write(folder.file("final.feature_transform"), transform, binary=False)
        folder.write_text("feat_type", self.recipe.feat_type + "\n")
        for name in ("cmvn_opts", "delta_opts"):
            if getattr(self.recipe, name) is not None:
                folder.write_text(name, getattr(self.recipe, name) + "\n")
        if self.options.objective == "xent":
            counts = np.zeros(init.output_dim, np.float32)
            counts[: len(data.counts.classes)] = data.counts.classes
            path = folder.file("ali_train_pdf.counts")
            tables.write_object(path, counts, binary=False)

    def _transform(self, data: FrameSet, labels: Any) -> Nnet:
        recipe = self.recipe
        if recipe.feature_transform:
            read = nnet1.read(recipe.feature_transform)
            if read.input_dim != data.counts.dim:
                raise InputError(
                    f"{recipe.feature_transform}: takes {read.input_dim} dimensions, "
                    f"but the features (with deltas) have {data.counts.dim}."
                )
            return read
        # All utterances count, also those without targets, where they can be read.
        pipeline = data.utterances.feats
        return feature_transform.build(
            recipe.feat_type,
            pipeline.__iter__ if pipeline.replayable else data.feats,
            splice=_splice(self.config),
            traps_dct_basis=recipe.traps_dct_basis,
            transf=_matrix(recipe),
            splice_after_transf=recipe.splice_after_transf,
            lda_dim=recipe.lda_dim,
            labels=labels if isinstance(labels, Mapping) else None,
            std_dev=recipe.feats_std,
        )

    def _init(self, input_dim: int) -> tuple[Nnet, str | None]:
        """The initial network, and its prototype if it was made from one."""
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
        name = self.recipe.mlp_init or self.recipe.mlp_proto or "the network"
        if init.input_dim != transform.output_dim:
            raise InputError(
                f"{name}: takes {init.input_dim} dimensions, but the feature "
                f"transform puts out {transform.output_dim}."
            )
        if init.output_dim != self.config.pdfs:
            raise InputError(
                f"{name}: has {init.output_dim} outputs, but there are "
                f"{self.config.pdfs} targets."
            )
        last = init.components[-1]
        ends = isinstance(last, components.Softmax)
        if self.options.objective == "xent" and not ends:
            raise InputError(
                f"{name}: ends in {last.marker}, but objective xent needs <Softmax>; "
                "add it, or train with --objective_function=mse."
            )


def _targets(
    recipe: DnnRecipe, config: DnnConfig, overrides: Sequence[str]
) -> tuple[Any, Any, int]:
    """Targets of both sets, and how many outputs they ask for."""
    fixed = any(o.partition("=")[0].strip() == "pdfs" for o in overrides)
    wanted = recipe.num_tgt or (config.pdfs if fixed else None)
    if recipe.labels is not None:
        if wanted is None:
            raise InputError(
                "labels are given without num_tgt, the number of outputs; "
                "add --num_tgt=N."
            )
        return recipe.labels, recipe.held_out_labels or recipe.labels, wanted
    if recipe.ali_train is None or recipe.ali_held_out is None:
        raise InputError(
            "no targets: give alignment directories, or labels and num_tgt."
        )
    train = alignments.read_alignments(recipe.ali_train)
    held_out = alignments.read_alignments(recipe.ali_held_out)
    return train, held_out, wanted or train.num_pdfs


def _pipeline(source: SetSource | str, recipe: DnnRecipe, what: str) -> FeaturePipeline:
    if isinstance(source, str):
        try:
            directory = DataDir(source)
        except InputError as error:
            raise InputError(f"{what} data: {error}") from None
        source = SetSource(
            feats=directory.feats,
            cmvn=directory.cmvn if recipe.cmvn_opts is not None else None,
            utt2spk=directory.utt2spk if recipe.cmvn_opts is not None else None,
        )
        if recipe.cmvn_opts is not None and source.cmvn is None:
            raise InputError(
                f"{directory.directory}: cmvn.scp is missing, but cmvn_opts are given; "
                "compute the statistics, or leave cmvn_opts out."
            )
    return FeaturePipeline(
        source.feats,
        recipe.cmvn_opts,
        source.cmvn,
        source.utt2spk,
        recipe.delta_opts,
        allow_pipes=recipe.allow_pipes,
    )


def _frame_set(
    name: str,
    pipeline: FeaturePipeline,
    targets: Any,
    num_targets: int,
    recipe: DnnRecipe,
    options: FrameTrainOptions,
    folder: RunFolder,
) -> FrameSet:
    utterances = Utterances(
        pipeline,
        targets,
        frame_weights=recipe.frame_weights,
        utt_weights=recipe.utt_weights,
        num_targets=num_targets,
        length_tolerance=recipe.length_tolerance,
        max_frames=recipe.max_frames,
    )
    copy = None
    if recipe.copy_feats:
        compress = recipe.copy_feats_compress
        if compress is None:
            # train.sh copies and compresses; the tools it calls do not.
            compress = isinstance(recipe.train, str)
        copy = Copy(_copy_folder(folder, recipe), name, compress)
    return FrameSet(
        utterances,
        recipe.randomizer_size,
        options.minibatch_size,
        copy,
        identity=f"{os.path.abspath(folder.path)} {recipe}",
    )


def _copy_folder(folder: RunFolder, recipe: DnnRecipe) -> str:
    """The same for the same run, so that a resumed one finds its copy."""
    if recipe.copy_feats_tmproot is None:
        return folder.file("copy")
    name = hashlib.sha256(os.path.abspath(folder.path).encode()).hexdigest()[:12]
    root = recipe.copy_feats_tmproot.replace("XXXX", "seqzoo")
    return os.path.join(root, name)


def _check_dim(config: DnnConfig, dim: int, overrides: Sequence[str]) -> None:
    fixed = any(o.partition("=")[0].strip() == "feature_dim" for o in overrides)
    if fixed and config.feature_dim != dim:
        raise InputError(
            f"features have {dim} dimensions, but feature_dim={config.feature_dim} is "
            "set; leave it out to take theirs."
        )


def _check_same_dim(train: FrameSet, held_out: FrameSet) -> None:
    if train.counts.dim != held_out.counts.dim:
        raise InputError(
            f"training features have {train.counts.dim} dimensions, held-out ones "
            f"{held_out.counts.dim}; both must have the same."
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


def _splice(config: DnnConfig) -> int:
    splice = max(config.offsets)
    if config.offsets != tuple(range(-splice, splice + 1)):
        raise InputError(
            f"offsets are {config.offsets}; a feature transform is made for symmetric "
            "ones without gaps. Give --feature_transform=FILE for others."
        )
    return splice


def _lasting(options: FrameTrainOptions) -> dict[str, Any]:
    """The options that a resumed run must share."""
    passing = {"statistics", "profile", "progress_bar"}
    values = dataclasses.asdict(options)
    return {name: value for name, value in values.items() if name not in passing}
