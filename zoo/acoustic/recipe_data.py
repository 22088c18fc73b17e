"""What a recipe is trained on: features and targets of both sets, opened."""

import dataclasses
import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import Any

from seqzoo.datasets import alignments
from seqzoo.datasets.data_dir import DataDir
from seqzoo.datasets.errors import InputError
from seqzoo.datasets.feature_pipeline import FeaturePipeline
from seqzoo.zoo.acoustic.acoustic_config import AcousticConfig
from seqzoo.zoo.acoustic.dnn_options import DnnRecipe
from seqzoo.zoo.acoustic.feature_options import FeatureOptions, SetSource
from seqzoo.zoo.training.run_folder import RunFolder


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class RecipeData:
    """Features, targets and weights, as `FrameSet` takes them."""

    train: Any
    """Training features, a `FeaturePipeline` or what has its attributes."""

    held_out: Any
    """Held-out features."""

    labels: Any
    """Targets of the training set, as `Utterances` takes them."""

    held_out_labels: Any
    """Targets of the held-out set."""

    num_targets: int
    """Outputs that the targets ask for."""

    frame_weights: Any = None
    """Of both sets."""

    utt_weights: Any = None
    """Of both sets."""

    parts: Mapping[str, int] = dataclasses.field(default_factory=dict)
    """Names of parts of the outputs, each of which both sets must have targets in, and
    their widths; none is all outputs as one."""


def read(
    recipe: DnnRecipe, config: AcousticConfig, overrides: Sequence[str]
) -> RecipeData:
    """Opens what a recipe names.

    Args:
        recipe: the recipe.
        config: of the model.
        overrides: settings of the model that were given.

    Raises:
        InputError: something is missing or cannot be read.
    """
    labels, held_out_labels, num_targets = _targets(recipe, config, overrides)
    return RecipeData(
        train=features(recipe.train, recipe, "training"),
        held_out=features(recipe.held_out, recipe, "held-out"),
        labels=labels,
        held_out_labels=held_out_labels,
        num_targets=num_targets,
        frame_weights=recipe.frame_weights,
        utt_weights=recipe.utt_weights,
    )


def is_set(setting: str, overrides: Sequence[str]) -> bool:
    """Whether a setting of the model is among those that were given."""
    return any(o.partition("=")[0].strip() == setting for o in overrides)


def check_dim(set_dim: int, dim: int, overrides: Sequence[str]) -> None:
    """InputError if `feature_dim` was set to another than the features have."""
    if is_set("feature_dim", overrides) and set_dim != dim:
        raise InputError(
            f"features have {dim} dimensions, but feature_dim={set_dim} is set; leave "
            "it out to take theirs."
        )


def copy_folder(folder: RunFolder, recipe: FeatureOptions) -> str:
    """Where the copy of the features goes: the same for the same run, so that a
    resumed one finds it."""
    if recipe.copy_feats_tmproot is None:
        return folder.file("copy")
    name = hashlib.sha256(os.path.abspath(folder.path).encode()).hexdigest()[:12]
    root = recipe.copy_feats_tmproot.replace("XXXX", "seqzoo")
    return os.path.join(root, name)


def _targets(
    recipe: DnnRecipe, config: AcousticConfig, overrides: Sequence[str]
) -> tuple[Any, Any, int]:
    """Targets of both sets, and how many outputs they ask for."""
    fixed = is_set("pdfs", overrides)
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


def features(
    source: SetSource | str, recipe: FeatureOptions, what: str
) -> FeaturePipeline:
    """The features of one set, `what` in errors."""
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
