"""Fine-tuning: which components learn, how fast, and a new output layer."""

from __future__ import annotations

import dataclasses
import difflib
import re
from collections.abc import Sequence

import numpy as np

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import (
    components,
    learn_rates,
    make_proto,
    nnet_edit,
    nnet_proto,
)
from seqzoo.zoo.checkpoints.nnet1 import Nnet
from seqzoo.zoo.checkpoints.tune_report import TuneReport, report

# What may stand behind the output layer: it takes the width of what it gets.
_ENDS = (
    components.Softmax,
    components.HiddenSoftmax,
    components.Sigmoid,
    components.Tanh,
    components.Dropout,
    components.LengthNorm,
)
# Of nnet1's prototypes, those of recurrent networks have another rule for the output.
_RECURRENT = (
    components.LstmProjected,
    components.BlstmProjected,
    components.RecurrentComponent,
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class TuneOptions:
    """What is changed of a network before it is trained on."""

    freeze: str = ""
    """Components that do not learn: numbers from 1 and ranges, `1:4,7`; markers,
    `LstmProjected`; names of layers, `net_3_affinetransform`; `all`. A new output
    layer always learns."""

    replace_output: int | None = None
    """Width of a new output layer in place of the last; None keeps that."""

    learn_rate_coefs: str = ""
    """`WHERE=COEF` or `WHERE=COEF/BIAS`, several parted by spaces: learn rates of
    components relative to the trainer's, and of biases relative to their weights';
    WHERE as in `freeze`."""

    seed: int = 777
    """Of the new weights."""

    rng: str = "numpy"
    """What draws them, as in `nnet_proto.initialize`."""

    def __bool__(self) -> bool:
        """Whether anything is changed."""
        return bool(
            self.freeze or self.learn_rate_coefs or self.replace_output is not None
        )


def tune(nnet: Nnet, options: TuneOptions) -> tuple[Nnet, TuneReport]:
    """A network that is made ready to be trained on.

    Learn rates are set, then components frozen, then the output replaced.

    Args:
        nnet: it is left as it is.
        options: what is changed.

    Returns:
        The network, and what was kept, frozen, replaced and dropped.

    Raises:
        InputError: for a component that is not there, or an output layer that cannot be
            replaced.
    """
    result = set_coefs(nnet, options.learn_rate_coefs)
    if options.freeze:
        result = freeze(result, options.freeze)
    if options.replace_output is not None:
        result = replace_output(
            result, options.replace_output, options.seed, options.rng
        )
    return result, report(nnet, result)


def freeze(nnet: Nnet, where: str) -> Nnet:
    """`nnet` with learn rates of 0 in some components, and in networks within them.

    Kaldi's files keep these, so that its tools do not train them either.

    Args:
        nnet: it is left as it is.
        where: as in `TuneOptions`.

    Raises:
        InputError: for a component that is not there, or that Kaldi's files have no
            learn rate for.
    """
    numbers = find(nnet, where, "freeze")
    result = nnet_edit.copies(nnet)
    chosen = [result.components[number - 1] for number in numbers]
    for number, component in zip(numbers, chosen, strict=True):
        _freeze(component, f"component {number}")
    if not any(component.num_parameters() for component in chosen):
        raise InputError(
            f"freeze {where!r}: there are no weights in "
            f"{', '.join(component.marker for component in chosen)}."
        )
    return result


def _freeze(component: components.Component, place: str) -> None:
    nets = getattr(component, "nets", [])
    for number, net in enumerate(nets, 1):
        for i, nested in enumerate(net.components, 1):
            _freeze(nested, f"{place}, network {number}, component {i}")
    coefs = learn_rates.attributes(component)
    for name in coefs:
        setattr(component, name, 0.0)
    if component.num_parameters() and not coefs and not nets:
        raise InputError(
            f"freeze: {place} {component.marker} has no learn rate in nnet1."
        )


def set_coefs(nnet: Nnet, text: str) -> Nnet:
    """`nnet` with the learn rates of `TuneOptions.learn_rate_coefs`.

    Raises:
        InputError: for a component that is not there, or a text of another form.
    """
    result = nnet
    for word in re.split(r"[\s;]+", text.strip()) if text.strip() else ():
        where, equals, values = word.rpartition("=")
        try:
            coef, _, bias = values.partition("/")
            rates = (float(coef), float(bias) if bias else 1.0)
        except ValueError:
            rates = (np.nan, np.nan)
        if not (where and equals and all(np.isfinite(r) and r >= 0 for r in rates)):
            raise InputError(
                f"learn_rate_coefs: {word!r} is not of the form WHERE=COEF or "
                "WHERE=COEF/BIAS, as 1:4=0.1 or 7=1/0.1."
            )
        numbers = find(nnet, where, "learn_rate_coefs")
        result = nnet_edit.set_learn_rates(result, ",".join(map(str, numbers)), *rates)
    return result


def find(nnet: Nnet, where: str, what: str = "components") -> list[int]:
    """The numbers of the components that `where` names, in order.

    Args:
        nnet: the network.
        where: as in `TuneOptions`.
        what: what errors call it.

    Raises:
        InputError: if there is no such component.
    """
    count = len(nnet.components)
    markers = [component.marker.strip("<>").lower() for component in nnet.components]
    found: set[int] = set()
    for word in where.split(","):
        if word.strip() == "all":
            found.update(range(1, count + 1))
            continue
        ends = re.fullmatch(r"(\d+)(?::(\d+))?", word.strip())
        if ends:
            first, last = int(ends[1]), int(ends[2] or ends[1])
            if last < first:
                raise InputError(
                    f"{what} {where!r}: {word!r} runs backwards; give {last}:{first}."
                )
            if not 1 <= first <= last <= count:
                raise InputError(
                    f"{what} {where!r}: {word!r} is not within 1:{count}, the "
                    "components of the network."
                )
            found.update(range(first, last + 1))
            continue
        found.update(_named(word.strip(), markers, f"{what} {where!r}"))
    return sorted(found)


def _named(word: str, markers: Sequence[str], what: str) -> list[int]:
    """The components of a marker, or the one of a layer's name."""
    name = word.strip("<>").lower()
    layers = [f"{number}_{marker}" for number, marker in enumerate(markers, 1)]
    numbers = [n for n, marker in enumerate(markers, 1) if marker == name]
    if not numbers:
        short = name.removeprefix("net_")
        numbers = [n for n, layer in enumerate(layers, 1) if layer == short]
    if not numbers:
        kinds = list(dict.fromkeys(markers))
        near = difflib.get_close_matches(name, [*kinds, *layers], 1)
        hint = f"did you mean {near[0]}? " if near else ""
        raise InputError(
            f"{what}: {word!r} is no component of the network; {hint}numbers 1:"
            f"{len(markers)} and markers are taken: {', '.join(kinds)}."
        )
    return numbers


def replace_output(
    nnet: Nnet, outputs: int, seed: int = 777, rng: str = "numpy"
) -> Nnet:
    """`nnet` with a new output layer, as for other targets.

    The last affine or linear component becomes an affine one with new weights, by the
    rule of make_nnet_proto.py for the last layer or, in recurrent networks, of
    make_lstm_proto.py. A softmax behind it stays; one of blocks becomes a plain one.

    Args:
        nnet: it is left as it is.
        outputs: of the new network.
        seed, rng: of the new weights, as in `nnet_proto.initialize`.

    Raises:
        InputError: if the network does not end in such a layer.
    """
    if outputs < 1:
        raise InputError(f"replace_output {outputs}: 1 output is the least.")
    parts = nnet_edit.copies(nnet).components
    ends: list[components.Component] = []
    while parts and isinstance(parts[-1], (*_ENDS, components.BlockSoftmax)):
        end = parts.pop()
        if isinstance(end, components.BlockSoftmax):
            end = components.Softmax(outputs, outputs)
        end.input_dim = end.output_dim = outputs
        ends.insert(0, end)
    last = parts.pop() if parts else None
    if not isinstance(last, components.AffineTransform | components.LinearTransform):
        found = last.marker if last else nnet.components[0].marker
        raise InputError(
            f"replace_output: the output comes from {found}; an <AffineTransform> or "
            "<LinearTransform> can be replaced, with a softmax after it or without."
        )
    proto = _output_proto(parts, last.input_dim, outputs)
    [new] = nnet_proto.initialize(proto, seed, rng=rng).components
    return Nnet([*parts, new, *ends])


def _output_proto(
    before: Sequence[components.Component], inputs: int, outputs: int
) -> str:
    if any(isinstance(component, _RECURRENT) for component in before):
        return (
            f"<AffineTransform> <InputDim> {inputs} <OutputDim> {outputs} "
            "<BiasMean> 0.0 <BiasRange> 0.0"
        )
    proto = make_proto.make_nnet_proto(inputs, outputs, 0, 1, softmax=False)
    [line] = [line for line in proto.splitlines() if line != "</NnetProto>"]
    if any(isinstance(c, components.UpdatableComponent) for c in before):
        line += " <LearnRateCoef> 1.0 <BiasLearnRateCoef> 0.1"
    return line
