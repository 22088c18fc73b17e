"""FrequencyConvolution: filters that slide along the frequencies of spliced frames."""

import keras
import tensorflow as tf

from seqzoo.layers.component import UpdatableComponent


@keras.saving.register_keras_serializable(package="seqzoo")
class FrequencyConvolution(UpdatableComponent):
    """The same filters on every patch of frequencies.

    The input is `splices` spliced frames of `patch_stride` frequencies each. Patch `p`
    has the frequencies from `p * patch_step` on, `patch_dim` of them, of all spliced
    frames: `patch[s, d] = x[s * patch_stride + p * patch_step + d]`. The output lays
    patch after patch: `y[p * num_filters + f] = filters[f] . patch + bias[f]`.

    Args:
        num_filters: filters.
        patch_dim: frequencies in a patch.
        patch_step: frequencies between the starts of two patches.
        patch_stride: frequencies of a spliced frame.
        param_stddev: standard deviation of the initial filters.
        bias_mean: centre of the initial bias.
        bias_range: width of the initial bias; 0 starts all at `bias_mean`.
        learn_rate_coef: times the learning rate, for the filters; 0 freezes them.
        bias_learn_rate_coef: the same for the bias.
        max_norm: largest L2 norm of a filter, kept after every update of
            `KaldiSGD`; 0 is no limit. Momentum and penalties do not apply.
        seed: of the initial values; None draws anew.

    Input shape: `(..., splices * patch_stride)`.
    Output shape: `(..., patches * num_filters)`, where `patches` is
        `1 + (patch_stride - patch_dim) // patch_step`.
    Mask: passed on as is.

    Raises:
        ValueError: if a size is below 1, the patch is wider than a frame, the input is
            not whole frames, or a width or limit is negative.

    Source: Kaldi nnet1 `<ConvolutionalComponent>`,
    src/nnet/nnet-convolutional-component.h.
    """

    def __init__(
        self,
        num_filters: int,
        patch_dim: int,
        patch_step: int,
        patch_stride: int,
        param_stddev: float = 0.1,
        bias_mean: float = -2.0,
        bias_range: float = 2.0,
        learn_rate_coef: float = 1.0,
        bias_learn_rate_coef: float = 1.0,
        max_norm: float = 0.0,
        seed: int | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.check_least(
            1, num_filters=num_filters, patch_dim=patch_dim, patch_step=patch_step
        )
        if patch_dim > patch_stride:
            raise ValueError(
                f"{self.name}: patch_dim {patch_dim} is more than the {patch_stride} "
                "frequencies of a frame (patch_stride)."
            )
        self.check_least(
            0, param_stddev=param_stddev, bias_range=bias_range, max_norm=max_norm
        )
        self.num_filters = num_filters
        self.patch_dim = patch_dim
        self.patch_step = patch_step
        self.patch_stride = patch_stride
        self.param_stddev = param_stddev
        self.bias_mean = bias_mean
        self.bias_range = bias_range
        self.learn_rate_coef = learn_rate_coef
        self.bias_learn_rate_coef = bias_learn_rate_coef
        self.max_norm = max_norm
        self.seed = seed

    @property
    def patches(self) -> int:
        """How many patches a frame has."""
        return 1 + (self.patch_stride - self.patch_dim) // self.patch_step

    def build(self, input_shape):
        splices, rest = divmod(input_shape[-1], self.patch_stride)
        if rest or not splices:
            raise ValueError(
                f"{self.name}: the input is {input_shape[-1]} wide, which is not whole "
                f"frames of {self.patch_stride} frequencies (patch_stride)."
            )
        self._splices = splices
        half = self.bias_range / 2
        bias_seed = None if self.seed is None else self.seed + 1
        self.filters = self.add_parameter(
            "filters",
            (self.num_filters, splices * self.patch_dim),
            keras.initializers.RandomNormal(0.0, self.param_stddev, self.seed),
            learn_rate_coef=self.learn_rate_coef,
            momentum=False,
            max_norm=self.max_norm,
        )
        self.bias = self.add_parameter(
            "bias",
            (self.num_filters,),
            keras.initializers.RandomUniform(
                self.bias_mean - half, self.bias_mean + half, bias_seed
            ),
            learn_rate_coef=self.bias_learn_rate_coef,
            momentum=False,
        )

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.patches * self.num_filters)

    def call(self, inputs):
        # With the spliced frames as channels it is TensorFlow's convolution, whose
        # kernels were faster here than patches laid out for one product, and three
        # times as fast going back.
        frames = tf.reshape(inputs, [-1, self._splices, self.patch_stride])
        filters = tf.convert_to_tensor(self.filters)
        kernel = tf.reshape(filters, [-1, self._splices, self.patch_dim])
        outputs = tf.nn.conv1d(
            tf.transpose(frames, [0, 2, 1]),
            tf.transpose(kernel, [2, 1, 0]),
            self.patch_step,
            "VALID",
        )
        outputs = tf.nn.bias_add(outputs, tf.convert_to_tensor(self.bias))
        width = [self.patches * self.num_filters]
        return tf.reshape(outputs, tf.concat([tf.shape(inputs)[:-1], width], axis=0))

    def get_config(self):
        return {
            **super().get_config(),
            "num_filters": self.num_filters,
            "patch_dim": self.patch_dim,
            "patch_step": self.patch_step,
            "patch_stride": self.patch_stride,
            "param_stddev": self.param_stddev,
            "bias_mean": self.bias_mean,
            "bias_range": self.bias_range,
            "learn_rate_coef": self.learn_rate_coef,
            "bias_learn_rate_coef": self.bias_learn_rate_coef,
            "max_norm": self.max_norm,
            "seed": self.seed,
        }
