"""What the recurrent layers of language models share."""

import abc
import math
from collections.abc import Sequence

import keras
import tensorflow as tf

from seqzoo.layers.shadow import source

MASK_MODES = ("reset", "carry")


class SequenceLayer(keras.layers.Layer, abc.ABC):
    """A recurrent layer whose state goes in and comes out.

    Gates are stacked along the first axis of the weights, which are kept one row a
    unit. Weights start as Torch's: normal with deviation `1 / sqrt(dim + units)`, and
    the bias at 0, but at 1 for the gate that keeps the state.

    Args:
        units: width of the output.
        mask_mode: what a masked step, which puts out 0, leaves: "reset" a state of 0,
            "carry" the state that it found.
        through_state: whether gradients flow through the states that `run` takes and
            gives; otherwise chunks trained one after the other are truncated.
        time_major: inputs are `(time, batch, dim)`, which saves transposing them.
        uniform: all weights start within plus and minus this instead; None as told.
        seed: of the initial values; None draws anew.

    Input shape: `(batch, time, dim)`, or time first, as everything below then is.
    Output shape: `(batch, time, units)`.
    Mask: `(batch, time)`, False anywhere. Only it says what is masked: a real step
        whose numbers are all zero counts. Passed on as is.

    Raises:
        ValueError: if an option is out of its range.
    """

    def __init__(
        self,
        units: int,
        mask_mode: str = "reset",
        through_state: bool = False,
        time_major: bool = False,
        uniform: float | None = None,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        if units < 1:
            raise ValueError(f"{self.name}: units must be at least 1, not {units}.")
        if mask_mode not in MASK_MODES:
            raise ValueError(
                f"{self.name}: mask_mode is {mask_mode!r}; one of "
                f"{', '.join(MASK_MODES)} is taken."
            )
        if uniform is not None and uniform < 0:
            raise ValueError(f"{self.name}: uniform is {uniform}, below 0.")
        self.units = units
        self.mask_mode = mask_mode
        self.through_state = through_state
        self.time_major = time_major
        self.uniform = uniform
        self.seed = seed
        self.supports_masking = True
        self.input_spec = keras.InputSpec(ndim=3)
        self._made: list[keras.Variable] = []

    @property
    @abc.abstractmethod
    def state_sizes(self) -> tuple[int, ...]:
        """Widths of the parts of a state."""

    @abc.abstractmethod
    def recur(self, inputs, state, mask):
        """Outputs and the state after, time first; `mask` may be None."""

    def zero_state(self, batch) -> tuple[tf.Tensor, ...]:
        """The state before the first step, each part `(batch, n)`."""
        dtype = self.variable_dtype
        return tuple(tf.zeros([batch, size], dtype) for size in self.state_sizes)

    def run(self, inputs, state, mask=None):
        """Runs on from a state.

        Args:
            inputs: `(batch, time, dim)`.
            state: of `zero_state` or of the run before.
            mask: `(batch, time)`, or None for steps that are all real.

        Returns:
            Outputs, `(batch, time, units)`, and the state after the last step.
        """
        inputs = tf.cast(inputs, self.compute_dtype)
        if mask is not None:
            mask = tf.cast(mask, tf.bool)
            # What is not finite there would live on in products with 0.
            inputs = tf.where(mask[..., tf.newaxis], inputs, tf.zeros_like(inputs))
        if self.time_major:
            return self.recur(inputs, state, mask)
        mask = None if mask is None else tf.transpose(mask)
        outputs, state = self.recur(tf.transpose(inputs, [1, 0, 2]), state, mask)
        return tf.transpose(outputs, [1, 0, 2]), state

    def call(self, inputs, mask=None):
        batch = tf.shape(inputs)[1 if self.time_major else 0]
        return self.run(inputs, self.zero_state(batch), mask)[0]

    def add_weights(
        self, shapes: dict[str, Sequence[int]], scale: int, kept: int, blocks: int
    ) -> None:
        """Makes weights as attributes.

        Args:
            shapes: by name; one axis is a bias.
            scale: what the deviation's square is the inverse of.
            kept: the block of the bias that starts at 1, or -1.
            blocks: of the bias.
        """
        for place, (name, shape) in enumerate(shapes.items()):
            seed = None if self.seed is None else self.seed + place
            start: keras.initializers.Initializer | object
            if self.uniform is not None:
                start = keras.initializers.RandomUniform(
                    -self.uniform, self.uniform, seed
                )
            elif name == "bias":
                start = _Blocks(kept, blocks)
            else:
                start = keras.initializers.RandomNormal(
                    stddev=1 / math.sqrt(scale), seed=seed
                )
            weight = self.add_weight(
                name=name, shape=tuple(shape), initializer=start, autocast=False
            )
            setattr(self, name, weight)
            self._made.append(weight)

    def tensors(self) -> list[tf.Tensor]:
        """The weights in the order they were made, as a graph reads them."""
        return [tf.convert_to_tensor(source(weight)) for weight in self._made]

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "mask_mode": self.mask_mode,
            "through_state": self.through_state,
            "time_major": self.time_major,
            "uniform": self.uniform,
            "seed": self.seed,
        }


class _Blocks(keras.initializers.Initializer):
    """0, but 1 in one of some blocks of equal length."""

    def __init__(self, block: int, blocks: int):
        self.block = block
        self.blocks = blocks

    def __call__(self, shape, dtype=None):
        place = tf.range(shape[0]) // (shape[0] // self.blocks)
        return tf.cast(place == self.block, dtype or keras.config.floatx())
