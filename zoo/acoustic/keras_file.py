"""A `.keras` file of an acoustic model as networks again."""

import keras

from seqzoo import layers
from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components, keras_layers
from seqzoo.zoo.checkpoints.nnet1 import Nnet

TRANSFORM, NET = "transform_", "net_"
"""What the names of a model's layers start with, by the part they belong to."""

assert layers  # Keras finds the layers in a file when they have been imported.


def read(path: str) -> tuple[Nnet, Nnet | None]:
    """Reads a model that training or an import left, `final.keras`.

    Args:
        path: a local file.

    Returns:
        The network and the feature transform in front of it, or None.

    Raises:
        InputError: if it is no such file, or has layers that nnet1 does not know.
    """
    try:
        model = keras.models.load_model(path, compile=False)
    except (ValueError, TypeError, OSError, KeyError) as error:
        reason = " ".join(str(error).split())
        raise InputError(f"{path}: cannot read a Keras model: {reason}") from None
    try:
        return networks(model)
    except InputError as error:
        raise InputError(f"{path}: {error}") from None


def networks(model: keras.Model) -> tuple[Nnet, Nnet | None]:
    """The network and the feature transform of a model, as `dnn.assemble` joins them.

    Layers whose names start with `transform_` are the transform. A softmax follows a
    model of `logits`.

    Raises:
        InputError: if it has a layer that nnet1 does not know.
    """
    body = [
        layer
        for layer in model.layers
        if not isinstance(layer, keras.layers.InputLayer)
    ]
    front = 0
    while front < len(body) and body[front].name.startswith(TRANSFORM):
        front += 1
    net = keras_layers.to_nnet(body[front:])
    outputs = model.output
    if isinstance(outputs, dict) and "logits" in outputs:
        dim = int(outputs["logits"].shape[-1])
        net.components.append(components.Softmax(dim, dim))
    return net, keras_layers.to_nnet(body[:front]) if front else None
