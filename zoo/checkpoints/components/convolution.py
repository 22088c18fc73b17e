"""`<ConvolutionalComponent>`: filters that move along the frequencies."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import numpy as np

from seqzoo.zoo.checkpoints import nnet_info
from seqzoo.zoo.checkpoints.components.component import (
    ComponentError,
    UpdatableComponent,
    check_at_least,
    check_shape,
    float32,
    gauss,
    no_numbers,
    read_options,
    register,
    uniform,
    write_options,
)

if TYPE_CHECKING:
    from seqzoo.datasets.kaldi_objects import ObjectReader, ObjectWriter
    from seqzoo.zoo.checkpoints.draws import Draws
    from seqzoo.zoo.checkpoints.nnet_proto import Options


@register("<ConvolutionalComponent>")
@dataclasses.dataclass(eq=False)
class ConvolutionalComponent(UpdatableComponent):
    """A convolution along frequency over spliced frames.

    The input is `splice` frames of `patch_stride` frequencies. Patch `p` is, for each
    frame `s`, `x[p * patch_step + s * patch_stride + d]`, `d` below `patch_dim`. The
    output is patch after patch: `y[p * F + f] = filters[f] . patch_p + bias[f]`.
    """

    patch_dim: int = 0
    """Frequencies that a filter sees of each frame."""
    patch_step: int = 0
    """Frequencies from one patch to the next."""
    patch_stride: int = 0
    """Frequencies of a frame."""
    learn_rate_coef: float = 1.0
    bias_learn_rate_coef: float = 1.0
    max_norm: float = 0.0
    """Limit on the norm of a filter; 0 is none."""
    filters: np.ndarray = dataclasses.field(default_factory=lambda: no_numbers(0, 0))
    """`(F, splice * patch_dim)`."""
    bias: np.ndarray = dataclasses.field(default_factory=no_numbers)
    """`(F,)`."""

    _PATCHES = {
        "<PatchDim>": "patch_dim",
        "<PatchStep>": "patch_step",
        "<PatchStride>": "patch_stride",
    }
    _RATES = {
        "<LearnRateCoef>": "learn_rate_coef",
        "<BiasLearnRateCoef>": "bias_learn_rate_coef",
        "<MaxNorm>": "max_norm",
    }

    @property
    def splice(self) -> int:
        """Frames in the input."""
        return self.input_dim // self.patch_stride

    @property
    def num_patches(self) -> int:
        """Places of a filter."""
        return 1 + (self.patch_stride - self.patch_dim) // self.patch_step

    def parameters(self) -> dict[str, np.ndarray]:
        return {"filters": self.filters, "bias": self.bias}

    def read_data(self, reader: ObjectReader) -> None:
        while True:
            read_options(reader, self, self._PATCHES | self._RATES)
            token = reader.peek_token()
            if token == "<Filters>":
                reader.read_token()
                self.filters = reader.read_matrix()
            elif token == "<Bias>":
                reader.read_token()
                self.bias = reader.read_vector()
            else:
                break

    def write_data(self, writer: ObjectWriter) -> None:
        write_options(writer, self, self._PATCHES)
        writer.write_newline()
        write_options(writer, self, self._RATES)
        writer.write_newline()
        writer.write_token("<Filters>")
        writer.write_newline()
        writer.write_matrix(self.filters)
        writer.write_token("<Bias>")
        writer.write_newline()
        writer.write_vector(self.bias)

    def init_from_proto(self, options: Options, rng: Draws) -> None:
        self.patch_dim = options.integer("PatchDim")
        self.patch_step = options.integer("PatchStep")
        self.patch_stride = options.integer("PatchStride")
        stddev = options.number("ParamStddev", 0.1)
        mean = options.number("BiasMean", -2.0)
        width = options.number("BiasRange", 2.0)
        self.learn_rate_coef = float32(options.number("LearnRateCoef", 1.0))
        self.bias_learn_rate_coef = float32(options.number("BiasLearnRateCoef", 1.0))
        self.max_norm = float32(options.number("MaxNorm", 0.0))
        self._check_patches()
        filters = self.output_dim // self.num_patches
        self.filters = gauss(rng, stddev, filters, self.splice * self.patch_dim)
        self.bias = uniform(rng, mean, width, filters)

    def check(self) -> None:
        self._check_patches()
        filters = self.output_dim // self.num_patches
        check_shape(self, "filters", filters, self.splice * self.patch_dim)
        check_shape(self, "bias", filters)

    def _check_patches(self) -> None:
        dim, step, stride = self.patch_dim, self.patch_step, self.patch_stride
        check_at_least(self, 1, PatchDim=dim, PatchStep=step, PatchStride=stride)
        if dim > stride or (stride - dim) % step or self.input_dim % stride:
            raise ComponentError(
                f"{self.marker} has patches of {dim} in steps of {step} over frames of "
                f"{stride}, which do not fill input dimension {self.input_dim} evenly"
            )
        if self.output_dim % self.num_patches:
            raise ComponentError(
                f"{self.marker} has {self.num_patches} patches, of which output "
                f"dimension {self.output_dim} must be a multiple"
            )

    def info(self) -> str:
        return (
            f"\n  filters {nnet_info.stddev_moments(self.filters)} , "
            f"lr-coef {self.learn_rate_coef:g}, max-norm {self.max_norm:g}"
            f"\n  bias {nnet_info.stddev_moments(self.bias)} , "
            f"lr-coef {self.bias_learn_rate_coef:g}"
        )

    def propagate(self, feats: np.ndarray) -> np.ndarray:
        frames = feats.reshape(len(feats), self.splice, self.patch_stride)
        starts = self.patch_step * np.arange(self.num_patches)
        patches = frames[:, :, starts[:, None] + np.arange(self.patch_dim)]
        # (time, splice, patches, patch_dim) -> (time, patches, splice * patch_dim)
        patches = patches.swapaxes(1, 2)
        patches = patches.reshape(*patches.shape[:2], self.filters.shape[1])
        outputs = patches @ self.filters.T + self.bias
        return outputs.reshape(len(feats), self.output_dim)
