"""MaskedEmbedding: word vectors where id 0 is no word."""

import keras
import tensorflow as tf

from seqzoo.layers.row_table import UniformTable, mark_rows, rows_in_use, spread


@keras.saving.register_keras_serializable(package="seqzoo")
class MaskedEmbedding(keras.layers.Layer):
    """Looks up a vector for each word id; id 0, the separator, gives zeros.

    Row `w` of the table `embeddings` is that of word `w`. Row 0 is there, as it is in
    Torch, but is never read and never learns. The gradient by the table is a
    `tf.IndexedSlices` over the ids that were looked up, each once.

    Args:
        words: ids are 0 to `words`; the table has `words + 1` rows.
        dim: width of a vector.
        uniform: initial values are within plus and minus this; None draws them
            normal with deviation 1, as Torch does.
        seed: of the initial values; None draws anew.

    Input shape: integers, `(...)`.
    Output shape: `(..., dim)`.
    Mask: puts out one, `(...)`, True where there is a word.

    Raises:
        ValueError: if a size is below 1, `uniform` is negative or ids are not integers.

    Source: Element-Research/rnn, LookupTableMaskZero.lua.
    """

    def __init__(
        self,
        words: int,
        dim: int,
        uniform: float | None = 0.1,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        for option, value in (("words", words), ("dim", dim)):
            if value < 1:
                raise ValueError(
                    f"{self.name}: {option} must be at least 1, not {value}."
                )
        if uniform is not None and uniform < 0:
            raise ValueError(f"{self.name}: uniform is {uniform}, below 0.")
        self.words = words
        self.dim = dim
        self.uniform = uniform
        self.seed = seed
        self.supports_masking = True

    def build(self, input_shape):
        start: keras.initializers.Initializer
        if self.uniform is None:
            start = keras.initializers.RandomNormal(stddev=1.0, seed=self.seed)
        else:
            start = UniformTable(-self.uniform, self.uniform, self.seed)
        # Autocast would make a half-precision copy of the table for each call.
        self.embeddings = mark_rows(
            self.add_weight(
                name="embeddings",
                shape=(self.words + 1, self.dim),
                initializer=start,
                autocast=False,
            )
        )
        self.embeddings.value.scatter_update(
            tf.IndexedSlices(tf.zeros([1, self.dim], self.embeddings.dtype), [0])
        )

    def call(self, inputs):
        ids = tf.convert_to_tensor(inputs)
        if not ids.dtype.is_integer:
            raise ValueError(
                f"{self.name}: ids are {ids.dtype.name}; word ids (int32 or int64) "
                "are taken."
            )
        used, places = rows_in_use(ids)
        rows = tf.gather(self.embeddings.value, used)
        # A product with 0 would keep what is not finite.
        rows = tf.where((used != 0)[:, tf.newaxis], rows, tf.zeros([], rows.dtype))
        return spread(rows, places[0], self.compute_dtype)

    def compute_mask(self, inputs, mask=None):
        return keras.ops.not_equal(inputs, 0)

    def compute_output_shape(self, input_shape):
        return (*input_shape, self.dim)

    def compute_output_spec(self, inputs, *args, **kwargs):
        shape = self.compute_output_shape(inputs.shape)
        return keras.KerasTensor(shape, dtype=self.compute_dtype)

    def get_config(self):
        return {
            **super().get_config(),
            "words": self.words,
            "dim": self.dim,
            "uniform": self.uniform,
            "seed": self.seed,
        }
