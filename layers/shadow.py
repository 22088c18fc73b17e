"""Shadows: copies of float32 weights in the type that a network computes in.

Casting large weights at every step costs a pass over them; a shadow beside
them is written by the optimizer in the pass that updates them anyway.
"""

import keras
import tensorflow as tf


def add_shadow(weight: keras.Variable, dtype: str = "bfloat16") -> None:
    """Keeps a copy of `weight` in `dtype`, which layers then compute with."""
    copy = tf.cast(weight.value, dtype)
    weight.shadow = tf.Variable(copy, trainable=False, name=f"{weight.name}_shadow")


def refresh_shadow(weight: keras.Variable) -> None:
    """Brings the copy up to date after `weight` was set; without one does nothing."""
    shadow = getattr(weight, "shadow", None)
    if shadow is not None:
        shadow.assign(tf.cast(weight.value, shadow.dtype))


def source(weight: keras.Variable) -> tf.Variable:
    """What a layer's graph reads of a weight, and is differentiated by."""
    shadow = getattr(weight, "shadow", None)
    return weight.value if shadow is None else shadow
