"""Computes: Keras layers, losses, optimizers, samplers."""

from seqzoo.layers.add_shift import AddShift
from seqzoo.layers.affine import Affine
from seqzoo.layers.blstm_projected import BlstmProjected
from seqzoo.layers.component import Component, UpdatableComponent
from seqzoo.layers.dropout import Dropout
from seqzoo.layers.frame_loss import FrameLoss, mse, xent
from seqzoo.layers.kaldi_sgd import KaldiSGD
from seqzoo.layers.linear import Linear
from seqzoo.layers.lstm_projected import LstmProjected
from seqzoo.layers.multitask_loss import Task, multitask
from seqzoo.layers.recurrent import Recurrent
from seqzoo.layers.rescale import Rescale
from seqzoo.layers.row_matmul import row_matmul
from seqzoo.layers.shadow import add_shadow, refresh_shadow, source
from seqzoo.layers.splice import Splice, splice_rows

__all__ = [
    "AddShift",
    "Affine",
    "BlstmProjected",
    "Component",
    "Dropout",
    "FrameLoss",
    "KaldiSGD",
    "Linear",
    "LstmProjected",
    "Recurrent",
    "Rescale",
    "Splice",
    "Task",
    "UpdatableComponent",
    "add_shadow",
    "mse",
    "multitask",
    "refresh_shadow",
    "row_matmul",
    "source",
    "splice_rows",
    "xent",
]
