"""The components of Kaldi nnet1 networks, a file a kind, and the register of them."""

from seqzoo.zoo.checkpoints.components.activations import (
    HiddenSoftmax,
    Sigmoid,
    Softmax,
    Tanh,
)
from seqzoo.zoo.checkpoints.components.affine_transform import AffineTransform
from seqzoo.zoo.checkpoints.components.block_softmax import BlockSoftmax
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
    unknown_text,
    write_options,
)
from seqzoo.zoo.checkpoints.components.convolution import ConvolutionalComponent
from seqzoo.zoo.checkpoints.components.copy import Copy
from seqzoo.zoo.checkpoints.components.dropout import Dropout
from seqzoo.zoo.checkpoints.components.frame_pooling import FramePooling
from seqzoo.zoo.checkpoints.components.kl_hmm import KlHmm
from seqzoo.zoo.checkpoints.components.length_norm import LengthNorm
from seqzoo.zoo.checkpoints.components.linear_transform import LinearTransform
from seqzoo.zoo.checkpoints.components.lstm import BlstmProjected, LstmProjected
from seqzoo.zoo.checkpoints.components.multi_basis import MultiBasis
from seqzoo.zoo.checkpoints.components.nested import NestedComponent
from seqzoo.zoo.checkpoints.components.parallel import Parallel
from seqzoo.zoo.checkpoints.components.parametric_relu import ParametricRelu
from seqzoo.zoo.checkpoints.components.per_dimension import AddShift, Rescale
from seqzoo.zoo.checkpoints.components.pooling import AveragePooling, MaxPooling
from seqzoo.zoo.checkpoints.components.rbm import Rbm
from seqzoo.zoo.checkpoints.components.recurrent import RecurrentComponent
from seqzoo.zoo.checkpoints.components.sentence_averaging import (
    SentenceAveraging,
    SimpleSentenceAveraging,
)
from seqzoo.zoo.checkpoints.components.splice import Splice

__all__ = [
    "AddShift",
    "AffineTransform",
    "AveragePooling",
    "BlockSoftmax",
    "BlstmProjected",
    "Component",
    "ComponentError",
    "ConvolutionalComponent",
    "Copy",
    "Dropout",
    "FramePooling",
    "HiddenSoftmax",
    "KlHmm",
    "LengthNorm",
    "LinearTransform",
    "LstmProjected",
    "MaxPooling",
    "MultiBasis",
    "NestedComponent",
    "Parallel",
    "ParametricRelu",
    "Rbm",
    "RecurrentComponent",
    "Rescale",
    "SentenceAveraging",
    "Sigmoid",
    "SimpleSentenceAveraging",
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
    "unknown_text",
    "write_options",
]
