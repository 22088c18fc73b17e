"""The components of Kaldi nnet1 networks, a file a kind, and the register of them."""

from seqzoo.zoo.checkpoints.components.activations import Sigmoid, Softmax, Tanh
from seqzoo.zoo.checkpoints.components.affine_transform import AffineTransform
from seqzoo.zoo.checkpoints.components.component import (
    Component,
    ComponentError,
    UpdatableComponent,
    check_same_dims,
    check_shape,
    lookup,
    read_options,
    register,
    supported,
    supported_text,
    write_options,
)
from seqzoo.zoo.checkpoints.components.dropout import Dropout
from seqzoo.zoo.checkpoints.components.linear_transform import LinearTransform
from seqzoo.zoo.checkpoints.components.per_dimension import AddShift, Rescale
from seqzoo.zoo.checkpoints.components.splice import Splice

__all__ = [
    "AddShift",
    "AffineTransform",
    "Component",
    "ComponentError",
    "Dropout",
    "LinearTransform",
    "Rescale",
    "Sigmoid",
    "Softmax",
    "Splice",
    "Tanh",
    "UpdatableComponent",
    "check_same_dims",
    "check_shape",
    "lookup",
    "read_options",
    "register",
    "supported",
    "supported_text",
    "write_options",
]
