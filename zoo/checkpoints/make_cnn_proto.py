"""Prototypes of convolutions in front of a DNN, as make_cnn_proto.py prints them."""

from __future__ import annotations

import dataclasses
from typing import Any

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import proto_options
from seqzoo.zoo.checkpoints.proto_options import ScriptOptions


@dataclasses.dataclass(frozen=True, kw_only=True)
class CnnProtoOptions(ScriptOptions):
    """The options of make_cnn_proto.py."""

    activation_type: str = "<Sigmoid>"
    """The component after each convolution."""

    num_filters1: int = 128
    """Filters of the first convolution."""

    num_filters2: int = 256
    """Filters of the second."""

    pool_size: int = 3
    """Patches of a pool, between the two."""

    pool_step: int = 3
    """Patches from one pool to the next."""

    pool_type: str = "Max"
    """`Max` or `Average`."""

    pitch_dim: int = 0
    """Numbers of pitch at the end of each frame; those go around the convolutions."""

    delta_order: int = 2
    """Order of the deltas in the features; 0 is none."""

    splice: int = 5
    """Frames of context on each side."""

    patch_step1: int = 1
    """Frequencies from one patch to the next."""

    patch_dim1: int = 8
    """Frequencies that a filter of the first convolution sees."""

    patch_dim2: int = 4
    """Pools that a filter of the second sees."""

    dir: str = "."
    """The folder of the prototypes that the main one names, with pitch."""

    num_pitch_neurons: int = 200
    """Units of the layers that take the pitch."""


def make_cnn_proto(feat_dim: int, **options: Any) -> str:
    """The prototype of the convolutions, a component a line.

    A DNN goes behind it: `make_nnet_proto` with `smaller_input_weights=False` of what
    it puts out. With pitch it names two prototypes, see `make_pitch_protos`.

    Args:
        feat_dim: numbers in an input frame: spliced features with their deltas.
        options: the fields of `CnnProtoOptions`.

    Raises:
        InputError: for an unknown option or dimensions that do not make sense.
    """
    o = CnnProtoOptions.make(options)
    shape = _Shape(feat_dim, o)
    lines = ["<NnetProto>"]
    if o.pitch_dim:
        lines += shape.pitch_split()
    else:
        lines += [*shape.convolutions(), ""]
    return "".join(f"{line}\n" for line in lines)


def make_pitch_protos(feat_dim: int, **options: Any) -> dict[str, str]:
    """The prototypes that the one for features with pitch names, by file name.

    They belong into the folder `dir` of the options.
    """
    o = CnnProtoOptions.make(options)
    if not o.pitch_dim:
        return {}
    shape = _Shape(feat_dim, o)
    return {
        name: "".join(f"{line}\n" for line in ["<NnetProto>", *lines, "</NnetProto>"])
        for name, lines in (
            ("nnet.proto.convolution", shape.convolutions()),
            ("nnet.proto.pitch", shape.pitch_layers()),
        )
    }


class _Shape:
    """The dimensions, and the lines that they make."""

    def __init__(self, feat_dim: int, o: CnnProtoOptions):
        self.options = o
        proto_options.check_least(
            {"feat_dim": (feat_dim, 1)}
            | {
                name: (getattr(o, name), 1)
                for name in ("num_filters1", "num_filters2", "pool_size", "pool_step")
                + ("patch_step1", "patch_dim1", "patch_dim2", "num_pitch_neurons")
            }
            | {
                name: (getattr(o, name), 0)
                for name in ("pitch_dim", "delta_order", "splice")
            }
        )
        if o.pool_type not in ("Max", "Average"):
            raise InputError(
                f"prototype: pool_type is {o.pool_type!r}; Max and Average are taken."
            )
        self.feat_dim = feat_dim
        self.frames = (o.delta_order + 1) * (2 * o.splice + 1)
        width = self._whole(feat_dim, self.frames, "feat_dim", "frames with deltas")
        self.raw = width - o.pitch_dim
        step = o.patch_step1
        self.patches1 = 1 + self._whole(
            self.raw - o.patch_dim1, step, "frequencies after the first patch", "steps"
        )
        self.pools = 1 + self._whole(
            self.patches1 - o.pool_size, o.pool_step, "patches after a pool", "steps"
        )
        self.patches2 = 1 + self._whole(
            self.pools - o.patch_dim2, step, "pools after the first patch", "steps"
        )
        self.output_dim = o.num_filters2 * self.patches2

    def _whole(self, total: int, part: int, what: str, parts: str) -> int:
        count, rest = divmod(total, part)
        if total < 0:
            raise InputError(
                f"prototype: {what}: {-total} are missing for a single one; "
                f"{self._hint()}"
            )
        if rest:
            raise InputError(
                f"prototype: {what}: {total} is not a whole number of {parts} of "
                f"{part}; {self._hint()}"
            )
        return count

    def _hint(self) -> str:
        return (
            f"check feat_dim {self.feat_dim}, delta_order {self.options.delta_order}, "
            "the patches and the pools."
        )

    def convolutions(self) -> list[str]:
        o = self.options
        first, pooled = o.num_filters1 * self.patches1, o.num_filters1 * self.pools
        return [
            self._convolution(
                self.raw * self.frames, first, o.patch_dim1, self.raw, -1, 2, 0.02, 30
            ),
            f"<{o.pool_type}PoolingComponent> {_dims(first, pooled)} "
            f"<PoolSize> {o.pool_size} <PoolStep> {o.pool_step} "
            f"<PoolStride> {o.num_filters1}",
            *self._scaled(pooled),
            self._convolution(
                pooled, self.output_dim, o.patch_dim2, self.pools, -2, 4, 0.1, 50
            ),
            *self._scaled(self.output_dim),
        ]

    def _convolution(
        self,
        inputs: int,
        outputs: int,
        patch: int,
        stride: int,
        mean: float,
        width: float,
        stddev: float,
        norm: float,
    ) -> str:
        return (
            f"<ConvolutionalComponent> {_dims(inputs, outputs)} <PatchDim> {patch} "
            f"<PatchStep> {self.options.patch_step1} <PatchStride> {stride} "
            f"<BiasMean> {mean:f} <BiasRange> {width:f} <ParamStddev> {stddev:f} "
            f"<MaxNorm> {norm:f}"
        )

    def _scaled(self, dim: int) -> list[str]:
        return [
            f"<Rescale> {_dims(dim, dim)} <InitParam> {1:f}",
            f"<AddShift> {_dims(dim, dim)} <InitParam> {0:f}",
            f"{self.options.activation_type} {_dims(dim, dim)}",
        ]

    def pitch_layers(self) -> list[str]:
        o = self.options
        units = o.num_pitch_neurons
        lines = []
        for inputs, stddev in ((o.pitch_dim * self.frames, 0.02), (units, 0.1)):
            lines += [
                f"<AffineTransform> {_dims(inputs, units)} <BiasMean> {-2:f} "
                f"<BiasRange> {4:f} <ParamStddev> {stddev:f}",
                f"{o.activation_type} {_dims(units, units)}",
            ]
        return lines

    def pitch_split(self) -> list[str]:
        """Frequencies to the front, pitch to the back, and a network for each."""
        o = self.options
        starts = range(1, self.feat_dim + 1, self.raw + o.pitch_dim)
        spans = [(start, self.raw) for start in starts]
        spans += [(start + self.raw, o.pitch_dim) for start in starts]
        columns = "".join(f"{first}:1:{first + n - 1} " for first, n in spans)
        nested = f"{o.dir}/nnet.proto.convolution {o.dir}/nnet.proto.pitch"
        outputs = o.num_pitch_neurons + self.output_dim
        return [
            f"<Copy> {_dims(self.feat_dim, self.feat_dim)} "
            f"<BuildVector> {columns} </BuildVector>",
            f"<ParallelComponent> {_dims(self.feat_dim, outputs)} "
            f"<NestedNnetProto> {nested} </NestedNnetProto>",
        ]


def _dims(inputs: int, outputs: int) -> str:
    return f"<InputDim> {inputs} <OutputDim> {outputs}"
