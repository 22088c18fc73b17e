"""SavedModels of acoustic models, with signatures that need no Python of ours."""

import logging
from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
import tensorflow as tf
from numpy.typing import ArrayLike, NDArray

from seqzoo.datasets.errors import InputError
from seqzoo.export import check as check_module
from seqzoo.export import version_folder
from seqzoo.export.float32 import in_float32
from seqzoo.export.step_signature import NAME as STEP
from seqzoo.export.step_signature import StepSignature, checked_lengths
from seqzoo.export.stream import NoStreamError
from seqzoo.export.version_folder import DESCRIPTION, description, versions

__all__ = ["DESCRIPTION", "description", "export", "versions"]

_LOG = logging.getLogger(__name__)


def export(
    model: keras.Model,
    directory: str,
    *,
    version: int | None = None,
    log_priors: ArrayLike | None = None,
    keep_compute_type: bool = False,
    check: bool = False,
    step: bool | None = None,
    notes: Mapping[str, Any] | None = None,
) -> str:
    """Writes `directory/<version>/`, where TF Serving finds it.

    Every signature takes `feats`, float32 `(batch, time, dim)`, and `lengths`, int32
    `(batch,)`, the frames of each utterance; what stands behind them is padding and
    changes nothing. Outputs are float32 `(batch, time, classes)`, 0 in the padding,
    under the signature's name:

    - `posteriors`: the softmax.
    - `log_posteriors`: `log(posteriors + 1e-20)`.
    - `log_likelihoods`: those minus `log_priors`; only with them.
    - `serving_default`: the last of these that there is, under the name `outputs`.

    A model without a softmax has `outputs` and `serving_default` only.

    A model with recurrent layers that need no frame of an utterance's end also has
    `step`, which takes utterances piece by piece, as `StepSignature` tells. Its outputs
    are those of `serving_default`.

    Args:
        model: a functional Keras model of `{"feats": (batch, time, dim)}` to
            `{"logits": ...}`, what goes into a softmax, or to `{"outputs": ...}`.
        directory: the folder of all versions, local or remote; made if need be.
        version: at least 0; None takes the next after the highest there.
        log_priors: of the classes, scaled already.
        keep_compute_type: compute in the types of the model's layers; otherwise all
            in float32.
        check: run it in a fresh process first, as `check.check` does; where it
            differs from the model, nothing is written.
        step: True writes `step` of a model without recurrent layers too, and is an
            error where there cannot be one; False leaves it out.
        notes: more for the page that `description` reads; plain values.

    Returns:
        The folder of the version. It appears only when all is written.

    Raises:
        InputError: if the model is of another form, `log_priors` do not fit it, the
            version is there, there can be no `step`, or the folder cannot be written.
    """
    priors = None if log_priors is None else np.asarray(log_priors, np.float32)
    form = _Form(model, priors)
    served = model if keep_compute_type else in_float32(model)

    def fill(folder: str) -> None:
        stepping = _step(served, form, step)
        signatures = _signatures(served, form)
        if stepping is not None:
            signatures[STEP] = stepping.function()
        tf.saved_model.save(_Weights(served), folder, signatures)
        page = _description(form, stepping, notes or {})
        version_folder.write_description(folder, page)
        if check:
            check_module.check(
                folder,
                served,
                log_priors=priors,
                keep_compute_type=keep_compute_type,
                step=stepping is not None,
            )

    return version_folder.write(directory, version, fill)


class _Form:
    """What a model takes and gives, checked."""

    def __init__(self, model: keras.Model, log_priors: NDArray[np.float32] | None):
        inputs, outputs = model.input, model.output
        if not (isinstance(inputs, dict) and list(inputs) == ["feats"]):
            raise InputError(f"{model.name}: its inputs are not {{'feats': ...}}.")
        if not (
            isinstance(outputs, dict) and list(outputs) in (["logits"], ["outputs"])
        ):
            raise InputError(
                f"{model.name}: its outputs are neither {{'logits': ...}} nor "
                "{'outputs': ...}."
            )
        [self.key] = outputs
        self.feature_dim = int(inputs["feats"].shape[-1])
        self.classes = int(outputs[self.key].shape[-1])
        if log_priors is not None and self.key != "logits":
            raise InputError(
                f"{model.name}: log_priors are given, but without a softmax at its end "
                "it has no posteriors to turn into likelihoods."
            )
        if log_priors is not None and log_priors.shape != (self.classes,):
            raise InputError(
                f"{model.name}: log_priors are of shape {log_priors.shape}; "
                f"it has {self.classes} classes."
            )
        self.log_priors = log_priors

    def finishes(self) -> dict[str, Callable[[tf.Tensor], tf.Tensor]]:
        """What each signature does with the model's outputs, by its name.

        The last of them is what serving_default does.
        """

        def log_posteriors(logits: tf.Tensor) -> tf.Tensor:
            return tf.math.log(tf.nn.softmax(logits) + 1e-20)

        if self.key == "outputs":
            return {"outputs": tf.identity}
        found = {"posteriors": tf.nn.softmax, "log_posteriors": log_posteriors}
        if self.log_priors is not None:
            priors = self.log_priors
            found["log_likelihoods"] = lambda logits: log_posteriors(logits) - priors
        return found


class _Weights(tf.Module):
    """All that is saved beside the signatures: no Keras object."""

    def __init__(self, model: keras.Model):
        super().__init__()
        shadows = (getattr(weight, "shadow", None) for weight in model.weights)
        self.weights = [weight.value for weight in model.weights]
        self.shadows = [shadow for shadow in shadows if shadow is not None]


def _signatures(model: keras.Model, form: _Form) -> dict[str, Any]:
    finishes = form.finishes()
    made = {
        name: _signature(model, form, finish, name) for name, finish in finishes.items()
    }
    *_, last = finishes.values()
    return {**made, "serving_default": _signature(model, form, last, "outputs")}


def _step(model: keras.Model, form: _Form, wanted: bool | None) -> StepSignature | None:
    """The signature `step`, where the model has one and it is wanted."""
    if wanted is False:
        return None
    *_, finish = form.finishes().values()
    try:
        made = StepSignature(model, finish)
    except NoStreamError as error:
        if wanted:
            raise InputError(
                f"the network can have no signature {STEP}: {error}; leave it out."
            ) from None
        _LOG.info("no signature %s: %s.", STEP, error)
        return None
    return made if wanted or made.recurrent else None


def _signature(
    model: keras.Model,
    form: _Form,
    finish: Callable[[tf.Tensor], tf.Tensor],
    output: str,
) -> Any:
    def signature(feats: tf.Tensor, lengths: tf.Tensor) -> dict[str, tf.Tensor]:
        lengths = checked_lengths(feats, lengths)
        time = tf.shape(feats)[1]
        mask = tf.sequence_mask(lengths, time)
        real = mask[..., tf.newaxis]
        # Whatever stands in the padding, were it NaN, no layer sees it.
        feats = tf.where(real, feats, 0.0)
        # Recurrent layers take no utterances of 0 frames: they get one of padding.
        more = [[0, 0], [0, tf.maximum(1 - time, 0)]]
        feats, mask = tf.pad(feats, [*more, [0, 0]]), tf.pad(mask, more)
        # Model.call and not the model itself: a Functional model takes a mask but
        # warns, when called, that it does not hand it on.
        outputs = model.call({"feats": feats}, training=False, mask={"feats": mask})
        scores = finish(tf.cast(outputs[form.key], tf.float32))[:, :time]
        return {output: tf.where(real, scores, 0.0)}

    return tf.function(
        signature,
        input_signature=[
            tf.TensorSpec((None, None, form.feature_dim), tf.float32, "feats"),
            tf.TensorSpec((None,), tf.int32, "lengths"),
        ],
        autograph=False,
    )


def _description(
    form: _Form, stepping: StepSignature | None, notes: Mapping[str, Any]
) -> dict[str, Any]:
    """A page for whoever finds the model: names and widths."""
    finishes = form.finishes()
    page = {
        "feature_dim": form.feature_dim,
        "classes": form.classes,
        "inputs": {
            "feats": "float32 (batch, time, feature_dim)",
            "lengths": "int32 (batch,)",
        },
        "outputs": {name: name for name in finishes} | {"serving_default": "outputs"},
        "serving_default": list(finishes)[-1],
        **notes,
    }
    if stepping is not None:
        page[STEP] = {
            "delay": stepping.delay,
            "state": {
                name: [spec.dtype.name, *spec.shape[1:]]
                for name, spec in stepping.state().items()
            },
        }
    return page
