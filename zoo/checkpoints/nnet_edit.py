"""Edits of networks: joining, cutting, learn rates, transforms as components."""

from __future__ import annotations

import copy
from collections.abc import Sequence

import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components
from seqzoo.zoo.checkpoints.nnet1 import Nnet


def concat(*nnets: Nnet) -> Nnet:
    """`nnets` one after the other, as nnet-concat: `concat(a, b)` is `b(a(x))`.

    Raises:
        InputError: if one puts out what the next does not take.
    """
    for number, (first, second) in enumerate(zip(nnets, nnets[1:], strict=False), 1):
        if first.output_dim != second.input_dim:
            raise InputError(
                f"network {number} puts out {first.output_dim} numbers a frame, but "
                f"network {number + 1} takes {second.input_dim}."
            )
    return Nnet([c for nnet in nnets for c in copies(nnet).components])


def copies(nnet: Nnet) -> Nnet:
    """`nnet` with components of its own, in nested networks too, that share arrays."""
    result = Nnet([copy.copy(component) for component in nnet.components])
    for component in result.components:
        if isinstance(component, components.NestedComponent):
            component.nets = [copies(net) for net in component.nets]
    return result


def remove_last_components(nnet: Nnet, count: int) -> Nnet:
    """`nnet` without its last `count` components."""
    _check_count(nnet, count)
    return copies(Nnet(nnet.components[: len(nnet.components) - count]))


def remove_first_components(nnet: Nnet, count: int) -> Nnet:
    """`nnet` without its first `count` components."""
    _check_count(nnet, count)
    return copies(Nnet(nnet.components[count:]))


def keep_components(nnet: Nnet, where: str) -> Nnet:
    """`nnet` of some of its components only, in their order.

    Args:
        nnet: the network; it is left as it is.
        where: component numbers from 1, `1:4` or `1:4,7`.

    Raises:
        InputError: for other numbers, or if what is left does not fit together.
    """
    numbers = sorted(set(_numbers(where, len(nnet.components))))
    kept = [nnet.components[number - 1] for number in numbers]
    for first, second in zip(kept, kept[1:], strict=False):
        if first.output_dim != second.input_dim:
            raise InputError(
                f"components {where!r}: {first.marker} puts out {first.output_dim} "
                f"numbers a frame, but the next, {second.marker}, takes "
                f"{second.input_dim}."
            )
    return copies(Nnet(kept))


def from_parallel_component(nnet: Nnet, number: int) -> Nnet:
    """Network `number`, from 1, of the `<ParallelComponent>` that `nnet` starts with.

    nnet-copy writes an empty network here: it frees the one it copies from.

    Raises:
        InputError: if there is no such component or network.
    """
    first = nnet.components[0] if nnet.components else None
    if not isinstance(first, components.Parallel):
        found = first.marker if first else "no component"
        raise InputError(
            f"the network starts with {found}; a nested network is taken out of "
            "<ParallelComponent>, which must be the first component."
        )
    if not 1 <= number <= len(first.nets):
        raise InputError(
            f"nested network {number} is not there; 1 to {len(first.nets)} are."
        )
    return copies(first.nets[number - 1])


def _check_count(nnet: Nnet, count: int) -> None:
    have = len(nnet.components)
    if not 0 <= count < have:
        raise InputError(
            f"{count} components cannot be removed of {have}; 0 to {have - 1} can."
        )


def set_dropout_rate(nnet: Nnet, rate: float) -> Nnet:
    """`nnet` with that rate in all its `<Dropout>` components, nested ones too."""
    if not 0 <= rate < 1:
        raise InputError(f"dropout rate {rate:g} is not of 0 to below 1.")
    result = copies(nnet)
    _set_dropout_rate(result, float(np.float32(rate)))
    return result


def _set_dropout_rate(nnet: Nnet, rate: float) -> None:
    for component in nnet.components:
        if isinstance(component, components.Dropout):
            component.dropout_rate = rate
        elif isinstance(component, components.NestedComponent):
            for net in component.nets:
                _set_dropout_rate(net, rate)


def set_learn_rates(
    nnet: Nnet, where: str = "", coef: float = 1.0, bias_coef: float = 1.0
) -> Nnet:
    """`nnet` with other learn rates, as nnet-set-learnrate.

    Args:
        nnet: the network; it is left as it is.
        where: component numbers from 1, `1:4` or `1:4,7`; empty is all.
        coef: learn rate of weights, relative to the trainer's.
        bias_coef: learn rate of biases, relative to that of their weights.
    """
    numbers = _numbers(where, len(nnet.components))
    result = copies(nnet)
    for number in numbers:
        component = result.components[number - 1]
        if isinstance(component, components.UpdatableComponent):
            component.set_learn_rates(coef, bias_coef)
    return result


def _numbers(where: str, count: int) -> Sequence[int]:
    if not where:
        return range(1, count + 1)
    numbers: list[int] = []
    for part in where.split(","):
        ends = part.split(":")
        try:
            first, last = int(ends[0]), int(ends[-1])
            if len(ends) > 2 or not 1 <= first <= last <= count:
                raise ValueError
        except ValueError:
            raise InputError(
                f"components {where!r}: {part!r} is not a number or first:last "
                f"within 1:{count}."
            ) from None
        numbers += range(first, last + 1)
    return numbers


def cmvn_to_nnet(
    stats: np.ndarray,
    std_dev: float = 1.0,
    learn_rate_coef: float = 0.0,
    var_floor: float = 1e-10,
) -> Nnet:
    """`<AddShift>` and `<Rescale>` to mean 0 and deviation `std_dev`.

    Args:
        stats: `(2, dim + 1)`: sums and the frame count, sums of squares and 0.
        std_dev: standard deviation of each dimension afterwards.
        learn_rate_coef: of both components; 0 keeps them fixed.
        var_floor: smaller variances are taken for this.

    Raises:
        InputError: if `stats` has another shape or holds no frames.
    """
    stats = np.asarray(stats)
    # Statistics of Kaldi's files are float32; with those, all its digits come out.
    rounded = stats.dtype == np.float32
    stats = stats.astype(np.float64)
    if stats.ndim != 2 or stats.shape[0] != 2 or stats.shape[1] < 2:
        raise InputError(
            f"CMVN statistics are of shape {stats.shape}; (2, dim + 1) is taken."
        )
    count = stats[0, -1]
    if not count > 0:
        raise InputError(f"CMVN statistics are of {count:g} frames.")
    mean = stats[0, :-1] / count
    if rounded:
        mean = mean.astype(np.float32).astype(np.float64)
    variance = stats[1, :-1] / count - mean**2
    scale = std_dev / np.sqrt(np.maximum(variance, var_floor))
    dim, coef = mean.size, float(np.float32(learn_rate_coef))
    return Nnet(
        [
            components.AddShift(dim, dim, (-mean).astype(np.float32), coef),
            components.Rescale(dim, dim, scale.astype(np.float32), coef),
        ]
    )


def transf_to_nnet(
    matrix: np.ndarray, shift: np.ndarray | None = None, learn_rate_coef: float = 1.0
) -> Nnet:
    """A matrix, and a shift after it if there is one, as components.

    Args:
        matrix: `(output_dim, input_dim)`; one more column than the features have
            is not a shift here: split it off.
        shift: `(output_dim,)`.
        learn_rate_coef: of the components; 0 keeps them fixed.
    """
    linearity = np.asarray(matrix, np.float32)
    if linearity.ndim != 2 or not linearity.size:
        raise InputError(f"transform is of shape {linearity.shape}; a matrix is taken.")
    rows, columns = linearity.shape
    coef = float(np.float32(learn_rate_coef))
    result = Nnet([components.LinearTransform(columns, rows, linearity, coef)])
    if shift is not None:
        data = np.asarray(shift, np.float32)
        if data.shape != (rows,):
            raise InputError(f"shift is of shape {data.shape}; ({rows},) is taken.")
        result.components.append(components.AddShift(rows, rows, data, coef))
    return result


def rbm_to_nnet(nnet: Nnet) -> Nnet:
    """The `<Rbm>` components of `nnet` as a feed-forward network.

    As rbm-convert-to-nnet: `<AffineTransform>` of the weights and the hidden biases,
    then `<Sigmoid>` unless the hidden units are gaussian.

    Raises:
        InputError: if `nnet` holds another component.
    """
    found: list[components.Component] = []
    for number, rbm in enumerate(nnet.components, 1):
        if not isinstance(rbm, components.Rbm):
            raise InputError(
                f"component {number} is {rbm.marker}; networks of <Rbm> are converted."
            )
        inputs, outputs = rbm.input_dim, rbm.output_dim
        found.append(
            components.AffineTransform(inputs, outputs, rbm.linearity, rbm.hidden_bias)
        )
        if rbm.hidden_type == "bern":
            found.append(components.Sigmoid(outputs, outputs))
    return Nnet(found)
