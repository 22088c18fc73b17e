"""Remember: when the state of one call is where the next one starts."""

import tensorflow as tf

REMEMBER_MODES = ("both", "train", "eval", "neither")


class Remember:
    """Keeps the state of a recurrent layer, or a stack of them, between calls.

    For loops that call eagerly; inside a graph, pass states by hand. Going over from
    training to evaluation, or back, forgets, as does `forget`.

    Args:
        layer: with `zero_state` and `run`.
        mode: "both", "train" or "eval", where to go on from the last state;
            "neither" starts each call from zeros.

    Raises:
        ValueError: for another mode, or, in a call, for another batch size than that
            of the state that is kept.

    Source: Element-Research/rnn, AbstractRecurrent.lua (remember, forget).
    """

    def __init__(self, layer, mode: str = "neither"):
        if mode not in REMEMBER_MODES:
            raise ValueError(
                f"remember: mode is {mode!r}; one of {', '.join(REMEMBER_MODES)} is "
                "taken."
            )
        self.layer = layer
        self.mode = mode
        self.state = None
        self._training = True

    def __call__(self, inputs, mask=None, training=False):
        """The layer's outputs; arguments are those of its `run`."""
        if bool(training) != self._training:
            self.forget()
            self._training = bool(training)
        layers = getattr(self.layer, "layers", [self.layer])
        batch = tf.shape(inputs)[1 if layers[0].time_major else 0]
        state = self.state
        if state is None or self.mode not in ("both", "train" if training else "eval"):
            state = self.layer.zero_state(batch)
        kept = tf.nest.flatten(state)[0].shape[0]
        if kept != int(batch):
            raise ValueError(
                f"{self.layer.name}: {int(batch)} sequences came, but the state kept "
                f"is that of {kept}; give as many, or call forget() first."
            )
        if not self.layer.built:
            self.layer.build(inputs.shape)
            self.layer.built = True
        more = {"training": training} if layers[0] is not self.layer else {}
        outputs, self.state = self.layer.run(inputs, state, mask, **more)
        return outputs

    def forget(self) -> None:
        """Starts the next call from zeros."""
        self.state = None
