"""Training that goes on from a trained model."""

import dataclasses
import logging
import os
from typing import Any

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.acoustic import trained_model
from seqzoo.zoo.acoustic.acoustic_config import AcousticConfig
from seqzoo.zoo.acoustic.dnn_options import DnnRecipe
from seqzoo.zoo.acoustic.trained_model import TrainedModel
from seqzoo.zoo.checkpoints import nnet_tune
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.training.run_folder import RunFolder

REPORT = "fine_tune.txt"
"""In a run folder: what was kept of the network before."""

_LOG = logging.getLogger(__name__)


def with_settings(recipe: DnnRecipe) -> DnnRecipe:
    """A recipe with what the features of `init` went through, unless it tells others.

    Of features in tables without statistics, it is taken that they are normalised.

    Raises:
        InputError: there is no such model, or another network to start from.
    """
    if recipe.init is None:
        return recipe
    for name in ("mlp_init", "mlp_proto", "dbn"):
        if getattr(recipe, name) is not None:
            raise InputError(
                f"{name}={getattr(recipe, name)} and init={recipe.init} are two "
                "networks to start from; leave one of them out."
            )
    model = _read(recipe.init)
    found: dict[str, Any] = {}
    for name in (trained_model.CMVN_OPTS, trained_model.DELTA_OPTS):
        options = getattr(model, name)
        if getattr(recipe, name) is not None or options is None:
            continue
        if name == trained_model.CMVN_OPTS and not _has_statistics(recipe):
            _LOG.warning(
                "%s was trained on normalised features (cmvn_opts %r); those given are "
                "taken as normalised, give cmvn otherwise.",
                recipe.init,
                options,
            )
            continue
        _LOG.info("%s of %s: %s", name, recipe.init, options)
        found[name] = options
    return dataclasses.replace(recipe, **found)


def network(init: str) -> Nnet:
    """The network that training goes on from."""
    return _read(init).nnet


def feature_transform(recipe: DnnRecipe) -> Nnet | None:
    """The feature transform of `init`, unless there is none or another is given."""
    if recipe.init is None or recipe.feature_transform is not None:
        return None
    return _read(recipe.init).feature_transform


def tuned(
    nnet: Nnet, recipe: DnnRecipe, folder: RunFolder, config: AcousticConfig
) -> Nnet:
    """The initial network as the recipe wants it.

    What was kept, frozen, replaced and dropped is logged, and written to
    `fine_tune.txt` in the run folder.

    Args:
        nnet: the network.
        recipe: says what is changed.
        folder: of the run.
        config: whose seed new weights have.

    Raises:
        InputError: as `nnet_tune.tune`; or nothing is left that learns.
    """
    options = nnet_tune.TuneOptions(
        freeze=recipe.freeze or "",
        replace_output=recipe.replace_output,
        learn_rate_coefs=recipe.learn_rate_coefs or "",
        seed=config.seed,
        rng=config.rng,
    )
    if recipe.init is None and not options:
        return nnet
    try:
        result, report = nnet_tune.tune(nnet, options)
    except InputError as error:
        name = recipe.init or recipe.mlp_init or "the network"
        raise InputError(f"{name}: {error}") from None
    if not report.kept + report.new:
        raise InputError(f"freeze {recipe.freeze!r}: nothing is left that learns.")
    for line in str(report).splitlines():
        _LOG.info("%s", line)
    folder.write_text(REPORT, f"{report}\n")
    return result


def _read(init: str) -> TrainedModel:
    if not os.path.exists(init):
        raise InputError(f"{init}: no such run folder or network to start from.")
    return trained_model.read(init)


def _has_statistics(recipe: DnnRecipe) -> bool:
    sets = (recipe.train, recipe.held_out)
    return all(isinstance(one, str) or one.cmvn is not None for one in sets)
