"""Newbob: nnet1's learning-rate schedule, which also picks the best network.

It knows no networks: `run` drives whatever trains and scores, so that it can be
called with one's own functions, as train_scheduler.sh can with one's own streams.
"""

import dataclasses
from collections.abc import Callable, Iterator

from seqzoo.datasets.errors import InputError


@dataclasses.dataclass(frozen=True, kw_only=True)
class NewbobOptions:
    """When the learning rate falls and training ends."""

    learn_rate: float = 0.008
    """Of the first epoch."""

    max_iters: int = 20
    """Epochs at most."""

    min_iters: int = 0
    """Epochs that are accepted and go on whatever the loss does."""

    keep_lr_iters: int = 0
    """Epochs at the start that are accepted, with the learning rate kept."""

    start_halving_impr: float = 0.01
    """Relative improvement below which the learning rate starts to fall."""

    end_halving_impr: float = 0.001
    """Relative improvement below which training ends, once it falls."""

    halving_factor: float = 0.5
    """What the learning rate is multiplied with after each epoch then."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class NewbobState:
    """Where a schedule stands after `iteration` epochs; plain numbers and text."""

    learn_rate: float
    loss: float
    best: str
    """Name of the network to go on from."""

    iteration: int = 0
    halving: bool = False
    accepted: int = 0
    finished: str = ""
    """Why it ended; '' while it has not."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class NewbobEpoch:
    """One epoch's outcome."""

    iteration: int
    learn_rate: float
    train_loss: float
    cv_loss: float
    accepted: bool
    name: str
    """`nnet_iter04_learnrate0.008_tr0.8347_cv1.5097_rejected`."""

    line: str
    """train_scheduler.sh's own line about it."""


Train = Callable[[int, float, str], tuple[float, float]]
"""`(iteration, learn_rate, best) -> (train loss, cv loss)`: trains one epoch from the
network named `best` and scores the result."""


def start(options: NewbobOptions, init: str, initial_loss: float) -> NewbobState:
    """The state before the first epoch.

    Args:
        options: of the schedule.
        init: name of the initial network.
        initial_loss: its loss on the held-out set.
    """
    _check(options)
    return NewbobState(
        learn_rate=_six_digits(options.learn_rate),
        loss=_six_digits(initial_loss),
        best=init,
    )


def step(
    options: NewbobOptions,
    state: NewbobState,
    base: str,
    train_loss: float,
    cv_loss: float,
) -> tuple[NewbobState, NewbobEpoch]:
    """Judges an epoch.

    Losses count to six digits, as a shell script reads them off a log.

    Args:
        options: of the schedule.
        state: before the epoch.
        base: what the networks' names begin with.
        train_loss: loss while training.
        cv_loss: loss on the held-out set afterwards; NaN is a rejection.
    """
    number = state.iteration + 1
    cv_loss = _six_digits(cv_loss)
    in_min, in_keep = number <= options.min_iters, number <= options.keep_lr_iters
    accepted = cv_loss < state.loss or in_min or in_keep
    suffix = "" if accepted else "_rejected"
    if accepted and in_min:
        suffix += f"_min-iters-{options.min_iters}"
    if accepted and in_keep:
        suffix += f"_keep-lr-iters-{options.keep_lr_iters}"
    padded = f"{number:0{len(str(options.max_iters))}d}"
    name = (
        f"{base}_iter{padded}_learnrate{state.learn_rate:g}"
        f"_tr{train_loss:.4f}_cv{cv_loss:.4f}{suffix}"
    )
    line = (
        f"ITERATION {padded}: TRAIN AVG.LOSS {train_loss:.4f}, "
        f"(lrate{state.learn_rate:g}), CROSSVAL AVG.LOSS {cv_loss:.4f}, "
        f"nnet {'accepted' if accepted else 'rejected'} ({name})"
    )
    epoch = NewbobEpoch(
        iteration=number,
        learn_rate=state.learn_rate,
        train_loss=train_loss,
        cv_loss=cv_loss,
        accepted=accepted,
        name=name,
        line=line,
    )
    after = dataclasses.replace(
        state, iteration=number, accepted=state.accepted + accepted
    )
    improvement = 0.0
    if accepted:
        improvement = (state.loss - cv_loss) / state.loss if state.loss else 0.0
        after = dataclasses.replace(after, loss=cv_loss, best=name)
    if not in_keep:
        after = _slow_down(options, after, improvement)
    if not after.finished and number >= options.max_iters:
        after = dataclasses.replace(after, finished=f"reached {number} iterations")
    return after, epoch


def run(
    options: NewbobOptions, state: NewbobState, base: str, train: Train
) -> Iterator[tuple[NewbobState, NewbobEpoch]]:
    """Runs the schedule from `state` to its end.

    Yields the state after each epoch and what happened in it; whoever takes them
    stores networks and the state, and can start again from any stored state.

    Args:
        options: of the schedule.
        state: of `start`, or one that `run` gave.
        base: what the networks' names begin with.
        train: trains and scores one epoch.
    """
    while not state.finished:
        losses = train(state.iteration + 1, state.learn_rate, state.best)
        state, epoch = step(options, state, base, *losses)
        yield state, epoch


def _slow_down(
    options: NewbobOptions, state: NewbobState, improvement: float
) -> NewbobState:
    if state.halving and improvement < options.end_halving_impr:
        if state.iteration <= options.min_iters:
            return state
        return dataclasses.replace(
            state, finished=f"too small rel. improvement {improvement:g}"
        )
    halving = state.halving or improvement < options.start_halving_impr
    rate = state.learn_rate
    if halving:
        rate = _six_digits(rate * options.halving_factor)
    return dataclasses.replace(state, halving=halving, learn_rate=rate)


def _six_digits(value: float) -> float:
    return float(f"{value:.6g}")


def _check(options: NewbobOptions) -> None:
    if options.learn_rate <= 0:
        raise InputError(f"learn_rate is {options.learn_rate:g}; it must be above 0.")
    if not 0 < options.halving_factor <= 1:
        raise InputError(
            f"halving_factor is {options.halving_factor:g}; it is taken in (0, 1]."
        )
    if options.max_iters < 1:
        raise InputError(f"max_iters is {options.max_iters}; it must be at least 1.")
    for name in ("min_iters", "keep_lr_iters"):
        if getattr(options, name) < 0:
            raise InputError(f"{name} is {getattr(options, name)}, below 0.")
