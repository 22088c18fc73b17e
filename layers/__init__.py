"""Computes: Keras layers, losses, optimizers, samplers."""

from seqzoo.layers.add_shift import AddShift
from seqzoo.layers.affine import Affine
from seqzoo.layers.alias_sampler import AliasSampler, AliasTable, alias_table
from seqzoo.layers.block_softmax import BlockSoftmax, block_softmax, kaldi_block_diff
from seqzoo.layers.blstm_projected import BlstmProjected
from seqzoo.layers.component import Component, UpdatableComponent
from seqzoo.layers.copy import Copy
from seqzoo.layers.dropout import Dropout
from seqzoo.layers.frame_loss import FrameLoss, mse, xent
from seqzoo.layers.frame_pooling import FramePooling
from seqzoo.layers.frequency_average_pooling import FrequencyAveragePooling
from seqzoo.layers.frequency_convolution import FrequencyConvolution
from seqzoo.layers.frequency_max_pooling import FrequencyMaxPooling
from seqzoo.layers.frequency_pooling import FrequencyPooling
from seqzoo.layers.full_softmax import full_softmax_losses, target_log_probs
from seqzoo.layers.hidden_softmax import HiddenSoftmax
from seqzoo.layers.kaldi_sgd import KaldiSGD
from seqzoo.layers.kl_hmm import KlHmm
from seqzoo.layers.length_norm import LengthNorm
from seqzoo.layers.linear import Linear
from seqzoo.layers.lstm_projected import LstmProjected
from seqzoo.layers.masked_embedding import MaskedEmbedding
from seqzoo.layers.multi_basis import MultiBasis
from seqzoo.layers.multitask_loss import Task, multitask
from seqzoo.layers.nce import NCE
from seqzoo.layers.nested import Nested
from seqzoo.layers.output_table import FullSoftmax, given_losses, sum_of_step_means
from seqzoo.layers.parallel import Parallel
from seqzoo.layers.parametric_relu import ParametricRelu
from seqzoo.layers.rbm import Rbm
from seqzoo.layers.recurrent import Recurrent
from seqzoo.layers.remember import Remember
from seqzoo.layers.rescale import Rescale
from seqzoo.layers.row_matmul import row_matmul
from seqzoo.layers.row_sgd import RowSGD
from seqzoo.layers.row_table import UniformTable, mark_rows
from seqzoo.layers.sampled_softmax import SampledSoftmax
from seqzoo.layers.scaled_gradient import scaled_gradient
from seqzoo.layers.sentence_averaging import SentenceAveraging
from seqzoo.layers.seq_gru import SeqGRU
from seqzoo.layers.seq_lstm import SeqLSTM
from seqzoo.layers.seq_rnn import SeqRNN
from seqzoo.layers.sequence_layer import SequenceLayer
from seqzoo.layers.sequence_stack import SequenceStack
from seqzoo.layers.shadow import add_shadow, refresh_shadow, source
from seqzoo.layers.simple_sentence_averaging import SimpleSentenceAveraging
from seqzoo.layers.softmax import Softmax
from seqzoo.layers.splice import Splice, splice_rows
from seqzoo.layers.utterance_sum import utterance_sum

__all__ = [
    "AddShift",
    "Affine",
    "AliasSampler",
    "AliasTable",
    "BlockSoftmax",
    "BlstmProjected",
    "Component",
    "Copy",
    "Dropout",
    "FrameLoss",
    "FramePooling",
    "FrequencyAveragePooling",
    "FrequencyConvolution",
    "FrequencyMaxPooling",
    "FrequencyPooling",
    "FullSoftmax",
    "HiddenSoftmax",
    "KaldiSGD",
    "KlHmm",
    "LengthNorm",
    "Linear",
    "LstmProjected",
    "MaskedEmbedding",
    "MultiBasis",
    "NCE",
    "Nested",
    "Parallel",
    "ParametricRelu",
    "Rbm",
    "Recurrent",
    "Remember",
    "Rescale",
    "RowSGD",
    "SampledSoftmax",
    "SentenceAveraging",
    "SeqGRU",
    "SeqLSTM",
    "SeqRNN",
    "SequenceLayer",
    "SequenceStack",
    "SimpleSentenceAveraging",
    "Softmax",
    "Splice",
    "Task",
    "UniformTable",
    "UpdatableComponent",
    "add_shadow",
    "alias_table",
    "block_softmax",
    "full_softmax_losses",
    "given_losses",
    "kaldi_block_diff",
    "mark_rows",
    "mse",
    "multitask",
    "refresh_shadow",
    "row_matmul",
    "scaled_gradient",
    "source",
    "splice_rows",
    "sum_of_step_means",
    "target_log_probs",
    "utterance_sum",
    "xent",
]
