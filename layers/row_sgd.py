"""RowSGD: gradient descent whose cost follows the table rows that a step touches."""

import keras
import tensorflow as tf

from seqzoo.layers.row_table import has_rows, merge_rows

TABLES = ("sgd", "momentum", "dense_momentum", "adagrad")

# Rows of a table that Torch's momentum changes at a time: 64 MB of 250 numbers.
_PIECE = 65_536


@keras.saving.register_keras_serializable(package="seqzoo")
class RowSGD(keras.optimizers.Optimizer):
    """Descends by Torch's rules; word tables by the rows that have a gradient.

    A step, with gradients `g` of all weights:

        cut      g *= cutoff / norm, if norm > cutoff > 0
        momentum v = g in the first step, later v = m v + (1 - m) g
        descent  w -= lr v

    `norm` is the L2 norm over all gradients, dense and by rows together; a row that
    occurs more than once (`tf.IndexedSlices` say so) counts with its sum, once.
    Tables, the weights marked by `row_table.mark_rows` and Keras's embeddings, follow a
    rule of their own, for the rows in their gradient only:

        "sgd"             w -= lr g; no memory beside the table
        "momentum"        the rule above, with `v` of a row changed when it is touched
        "adagrad"         a += g^2, w -= lr g / (sqrt(a) + epsilon), number by number
        "dense_momentum"  Torch's: `v` of every row decays and every row moves in every
                          step, which costs passes over the whole table

    Updates are written into the tables where they are. Works under `keras.Model.fit`.

    Args:
        learning_rate: a number or a schedule.
        momentum: `m`, in [0, 1); 0 or below is none and takes no memory.
        cutoff: largest norm; 0 or below is none.
        tables: rule for tables; those with momentum need one.
        initial_accumulator: `a` at the start, for "adagrad".
        epsilon: for "adagrad".

    Raises:
        ValueError: if an option is out of its range, or one of Keras's clips is given:
            they do not sum a row's gradients first.

    Source: Element-Research/dpnn, Module.lua (gradParamClip, updateGradParameters).
    """

    def __init__(
        self,
        learning_rate=0.05,
        momentum: float = 0.0,
        cutoff: float = -1.0,
        tables: str = "sgd",
        initial_accumulator: float = 0.1,
        epsilon: float = 1e-7,
        name: str = "row_sgd",
        **kwargs,
    ):
        for option in ("clipnorm", "global_clipnorm", "clipvalue"):
            if kwargs.get(option) is not None:
                raise ValueError(f"{name}: {option} is not taken; give cutoff.")
        super().__init__(learning_rate=learning_rate, name=name, **kwargs)
        if momentum >= 1:
            raise ValueError(f"{name}: momentum is {momentum}; below 1 is taken.")
        if tables not in TABLES:
            raise ValueError(
                f"{name}: tables is {tables!r}; one of {', '.join(TABLES)} is taken."
            )
        if tables.endswith("momentum") and momentum <= 0:
            raise ValueError(
                f"{name}: tables is {tables!r} but momentum is {momentum}; give "
                "momentum, or tables='sgd'."
            )
        if initial_accumulator < 0 or epsilon <= 0:
            raise ValueError(
                f"{name}: initial_accumulator is {initial_accumulator} and epsilon "
                f"{epsilon}; from 0 up and above 0 are taken."
            )
        self.momentum = momentum
        self.cutoff = cutoff
        self.tables = tables
        self.initial_accumulator = initial_accumulator
        self.epsilon = epsilon
        self.slots: list[keras.Variable | None] = []
        """Of each weight, in the order of `build`; None where its rule needs none."""
        self.norm: tf.Tensor | None = None
        """Of the gradients that were applied last, before the cut; a tensor of the
        graph that is being traced, where one is. None if there is no cutoff."""
        self._rules: list[str] = []

    def build(self, variables):
        if self.built:
            return
        super().build(variables)
        dense = "dense_momentum" if self.momentum > 0 else "sgd"
        self._rules = [self.tables if has_rows(v) else dense for v in variables]
        names = {"sgd": None, "adagrad": "accumulator"}

        # Keras's Constant would take twice the memory for a moment.
        def start(shape, dtype=None):
            return tf.fill(shape, tf.cast(self.initial_accumulator, dtype))

        self.slots = [
            self.add_variable_from_reference(
                variable,
                names.get(rule, "velocity"),
                initializer=start if rule == "adagrad" else "zeros",
            )
            if names.get(rule, "velocity")
            else None
            for variable, rule in zip(variables, self._rules, strict=True)
        ]

    def update_step(self, gradient, variable, learning_rate, scale=1.0):
        # `variable` is TensorFlow's own.
        index = self._get_variable_index(variable)
        rule, slot = self._rules[index], self.slots[index]
        dtype = variable.dtype
        rate, scale = tf.cast(learning_rate, dtype), tf.cast(scale, dtype)
        if rule.endswith("momentum"):
            later = tf.constant(1 - self.momentum, dtype)
            scale *= tf.where(self.iterations > 0, later, 1)
        if isinstance(gradient, tf.IndexedSlices):
            rows, ids = tf.cast(gradient.values, dtype), gradient.indices
            if rule == "sgd" and self.cutoff > 0:
                # Rows are there once each. In parts, which is faster than at once.
                now = tf.gather(variable, ids)
                _update(variable, ids, now - rows * (rate * scale))
            elif rule == "sgd":
                _subtract(variable, ids, rows * (rate * scale))
            elif rule == "momentum":
                self._row_momentum(variable, slot, ids, rows * scale, rate)
            elif rule == "adagrad":
                self._row_adagrad(variable, slot, ids, rows * scale, rate)
            else:
                self._whole_momentum(variable, slot, ids, rows * scale, rate)
            return
        gradient = tf.cast(gradient, dtype)
        if rule == "sgd":
            tf.raw_ops.ResourceApplyGradientDescent(
                var=variable.handle, alpha=rate * scale, delta=gradient
            )
        elif rule == "adagrad":
            tf.raw_ops.ResourceApplyAdagradV2(
                var=variable.handle,
                accum=slot.value.handle,
                lr=rate,
                epsilon=tf.cast(self.epsilon, dtype),
                grad=gradient * scale,
            )
        else:
            tf.raw_ops.ResourceApplyMomentum(
                var=variable.handle,
                accum=slot.value.handle,
                lr=rate,
                grad=gradient * scale,
                momentum=tf.cast(self.momentum, dtype),
            )

    def get_config(self):
        return {
            **super().get_config(),
            "momentum": self.momentum,
            "cutoff": self.cutoff,
            "tables": self.tables,
            "initial_accumulator": self.initial_accumulator,
            "epsilon": self.epsilon,
        }

    # Keras hands `update_step` one gradient at a time; the norm is over all of them,
    # after replicas have summed theirs.
    def _backend_update_step(self, grads, trainable_variables, learning_rate):
        variables = [getattr(v, "value", v) for v in trainable_variables]
        pairs = self._all_reduce_sum_gradients(list(zip(grads, variables, strict=True)))
        pairs = [(self._merged(g, v), v) for g, v in pairs if g is not None]
        scale = self._scale([gradient for gradient, _ in pairs])
        tf.__internal__.distribute.interim.maybe_merge_call(
            self._update_all, self._distribution_strategy, pairs, learning_rate, scale
        )

    def _update_all(self, strategy, pairs, learning_rate, scale):
        for gradient, variable in pairs:
            strategy.extended.update(
                variable,
                lambda v, g, lr, cut: self.update_step(g, v, lr, cut),
                args=(gradient, learning_rate, scale),
                group=False,
            )

    def _merged(self, gradient, variable):
        if not isinstance(gradient, tf.IndexedSlices):
            return gradient
        rule = self._rules[self._get_variable_index(variable)]
        # Subtracting a row's gradients one by one comes to the same.
        if rule in ("sgd", "dense_momentum") and self.cutoff <= 0:
            return gradient
        return merge_rows(gradient)

    def _scale(self, gradients) -> tf.Tensor:
        if self.cutoff <= 0:
            return tf.constant(1.0)
        values = [getattr(gradient, "values", gradient) for gradient in gradients]
        squares = tf.add_n(
            [2 * tf.cast(tf.nn.l2_loss(value), tf.float32) for value in values]
        )
        self.norm = norm = tf.sqrt(squares)
        return tf.where(norm > self.cutoff, self.cutoff / norm, 1.0)

    def _row_momentum(self, variable, slot, ids, rows, rate):
        # In parts, which is faster than TensorFlow's one operation for it.
        velocity = slot.value
        before = tf.gather(velocity, ids)
        after = tf.cast(self.momentum, rows.dtype) * before + rows
        _update(velocity, ids, after)
        _update(variable, ids, tf.gather(variable, ids) - rate * after)

    def _row_adagrad(self, variable, slot, ids, rows, rate):
        tf.raw_ops.ResourceSparseApplyAdagradV2(
            var=variable.handle,
            accum=slot.value.handle,
            lr=rate,
            epsilon=tf.cast(self.epsilon, rows.dtype),
            grad=rows,
            indices=ids,
        )

    def _whole_momentum(self, variable, slot, ids, rows, rate):
        velocity = slot.value
        decay = tf.cast(1 - self.momentum, rows.dtype)
        for piece in _pieces(variable.shape[0]):
            _subtract(velocity, piece, tf.gather(velocity, piece) * decay)
        _subtract(velocity, ids, -rows)
        for piece in _pieces(variable.shape[0]):
            _subtract(variable, piece, tf.gather(velocity, piece) * rate)


def _update(table, ids, rows) -> None:
    tf.raw_ops.ResourceScatterUpdate(resource=table.handle, indices=ids, updates=rows)


def _subtract(table, ids, rows) -> None:
    tf.raw_ops.ResourceScatterSub(resource=table.handle, indices=ids, updates=rows)


def _pieces(rows):
    """Ids of rows, some at a time: a table that is read whole is copied whole."""
    for start in range(0, rows, _PIECE):
        yield tf.range(start, min(start + _PIECE, rows))
