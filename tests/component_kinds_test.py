"""Each kind of component: its forward pass in loops, its options, what it refuses."""

import io
import re

import numpy as np
import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components, nnet1, nnet_edit, nnet_proto


def _parse(text):
    (component,) = nnet1.parse(io.BytesIO(text.encode()), "net").components
    return component


def _made(line):
    (component,) = nnet_proto.initialize(line, name="p").components
    return component


def _normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, np.float32)


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


# Forward passes.


def test_convolution_is_a_loop_over_patches_and_filters():
    splice, stride, dim, step, filters = 2, 7, 3, 2, 4
    patches = 1 + (stride - dim) // step
    layer = components.ConvolutionalComponent(
        splice * stride, patches * filters, dim, step, stride
    )
    layer.filters, layer.bias = _normal(filters, splice * dim), _normal(filters)
    layer.check()
    feats = _normal(5, splice * stride, seed=1)
    expected = np.zeros((5, patches * filters))
    for t, p, f in np.ndindex(5, patches, filters):
        total = float(layer.bias[f])
        for s, d in np.ndindex(splice, dim):
            value = feats[t, p * step + s * stride + d]
            total += float(layer.filters[f, s * dim + d]) * float(value)
        expected[t, p * filters + f] = total
    found = layer.propagate(feats)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "kind, pool", [(components.MaxPooling, max), (components.AveragePooling, np.mean)]
)
def test_pools_overlap(kind, pool):
    layer = kind(10, 4, pool_size=3, pool_step=2, pool_stride=2)
    layer.check()
    feats = _normal(3, 10)
    expected = np.zeros((3, 4))
    for t, q, f in np.ndindex(3, 2, 2):
        expected[t, q * 2 + f] = pool([feats[t, (q * 2 + r) * 2 + f] for r in range(3)])
    np.testing.assert_allclose(layer.propagate(feats), expected, rtol=1e-6)


def _lstm_loop(layer, feats, prefix, outputs, clip):
    """One direction in float64, cell by cell."""

    def array(name):
        return getattr(layer, prefix + name).astype(np.float64)

    cells = layer.cell_dim
    c, r, rows = np.zeros(cells), np.zeros(outputs), []
    for x in feats.astype(np.float64):
        z = array("w_gifo_x") @ x + array("w_gifo_r") @ r + array("bias")
        new, m = np.zeros(cells), np.zeros(cells)
        for k in range(cells):
            g = np.tanh(z[k])
            i = _sigmoid(z[cells + k] + array("peephole_i_c")[k] * c[k])
            f = _sigmoid(z[2 * cells + k] + array("peephole_f_c")[k] * c[k])
            new[k] = min(max(g * i + c[k] * f, -clip), clip)
            o = _sigmoid(z[3 * cells + k] + array("peephole_o_c")[k] * new[k])
            m[k] = o * np.tanh(new[k])
        c, r = new, array("w_r_m") @ m
        rows.append(r)
    return np.array(rows)


def test_lstm_is_a_loop_over_frames_and_cells():
    layer = _made(
        "<LstmProjected> <InputDim> 3 <OutputDim> 2 <CellDim> 4 <ParamRange> 2 "
        "<CellClip> 0.5"
    )
    feats = _normal(9, 3)
    expected = _lstm_loop(layer, feats, "", 2, 0.5)
    np.testing.assert_allclose(layer.propagate(feats), expected, rtol=1e-5, atol=1e-6)
    layer.cell_clip = 0.0
    expected = _lstm_loop(layer, feats, "", 2, np.inf)
    np.testing.assert_allclose(layer.propagate(feats), expected, rtol=1e-5, atol=1e-6)


def test_blstm_goes_both_ways():
    layer = _made(
        "<BlstmProjected> <InputDim> 3 <OutputDim> 4 <CellDim> 2 <ParamRange> 1"
    )
    feats = _normal(6, 3)
    found = layer.propagate(feats)
    forward = _lstm_loop(layer, feats, "f_", 2, 50)
    backward = _lstm_loop(layer, feats[::-1], "b_", 2, 50)[::-1]
    np.testing.assert_allclose(found[:, :2], forward, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(found[:, 2:], backward, rtol=1e-5, atol=1e-6)


def test_recurrent_is_a_loop_over_frames():
    layer = _made("<RecurrentComponent> <InputDim> 3 <OutputDim> 2 <ParamScale> 1")
    feats, before = _normal(5, 3), np.zeros(2)
    for x, found in zip(feats, layer.propagate(feats), strict=True):
        total = layer.w_forward @ x + layer.w_recurrent @ before + layer.bias
        before = np.tanh(total)
        np.testing.assert_allclose(found, before, rtol=1e-5)


def test_parametric_relu():
    layer = _parse("<ParametricRelu> 2 2 [ 1 2 ] [ 0 0.5 ]")
    feats = np.array([[3, 4], [-3, -4], [0, 0]], np.float32)
    assert layer.propagate(feats).tolist() == [[3, 8], [0, -2], [0, 0]]


def test_block_softmax_sums_to_one_in_each_block():
    layer = components.BlockSoftmax(5, 5, [2, 3])
    found = layer.propagate(np.array([[0, np.log(3), 1000, 0, 1000]], np.float32))
    np.testing.assert_allclose(found, [[0.25, 0.75, 0.5, 0, 0.5]], rtol=1e-6)


def test_copy_counts_from_1_in_files():
    layer = _parse("<Copy> 3 2 [ 2 1 2 ]")
    assert layer.columns == [1, 0, 1]
    assert layer.propagate(np.array([[5, 6]], np.float32)).tolist() == [[6, 5, 6]]


def test_length_norm():
    layer = components.LengthNorm(2, 2)
    found = layer.propagate(np.array([[3, -4], [0, 0]], np.float32))
    np.testing.assert_allclose(found[0], [0.6, -0.8], rtol=1e-6)
    assert np.isnan(found[1]).all()


def test_kl_hmm():
    layer = _parse("<KlHmm> 2 2 [ 1 3\n 2 0 ]")
    assert layer.states.dtype == np.float64
    found = layer.propagate(np.array([[0.5, 0.5], [1, 0]], np.float32))
    half, tiny = np.log(0.5), np.log(1e-20)
    expected = [
        [0.5 * np.log(0.25) + 0.5 * np.log(0.75) - half, 0.5 * tiny - half],
        [np.log(0.25), 0],
    ]
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_frame_pooling():
    layer = _parse(
        "<FramePoolingComponent> 4 6 <FeatureDim> 2 <FrameOffset> [ 0 1 ]\n"
        "<FrameWeight> [ 2 1 ] [ 0.5 ]"
    )
    feats = np.array([[1, 2, 10, 20, 100, 200]], np.float32)
    assert layer.propagate(feats).tolist() == [[12, 24, 5, 10]]
    assert layer.num_parameters() == 3


@pytest.mark.parametrize(
    "options, expected",
    [
        ({}, [2, 4]),
        ({"shrinkage": 1.0}, [1.5, 3]),
        ({"only_summing": True, "shrinkage": 1.0}, [6, 12]),
    ],
)
def test_simple_sentence_averaging(options, expected):
    layer = components.SimpleSentenceAveraging(2, 2, **options)
    feats = np.array([[1, 2], [2, 4], [3, 6]], np.float32)
    assert layer.propagate(feats).tolist() == [expected] * 3


def test_rbm_of_both_hidden_types():
    layer = _parse("<Rbm> 1 2 bern gauss [ 1 2 ] [ 0 0 ] [ 0.5 ]")
    feats = np.array([[1, 1]], np.float32)
    assert layer.propagate(feats).tolist() == [[3.5]]
    layer.hidden_type = "bern"
    np.testing.assert_allclose(layer.propagate(feats), [[_sigmoid(3.5)]], rtol=1e-6)


@pytest.mark.parametrize("marker", components.supported())
def test_utterances_without_frames(marker):
    made = {
        "<RecurrentComponent>": "<RecurrentComponent> <InputDim> 3 <OutputDim> 2",
        "<LstmProjected>": "<LstmProjected> <InputDim> 3 <OutputDim> 2 <CellDim> 2",
        "<BlstmProjected>": "<BlstmProjected> <InputDim> 3 <OutputDim> 2 <CellDim> 2",
    }.get(marker, "<Tanh> <InputDim> 3 <OutputDim> 3")
    layer = _made(made)
    found = layer.propagate(np.zeros((0, 3), np.float32))
    assert found.shape == (0, layer.output_dim)


# Files.


@pytest.mark.parametrize(
    "old, marker",
    [
        ("<LstmProjectedStreams>", "<LstmProjected>"),
        ("<lstmprojectedstreams>", "<LstmProjected>"),
        ("<BLstmProjectedStreams>", "<BlstmProjected>"),
    ],
)
def test_old_markers_and_options_of_lstms(old, marker):
    line = f"{marker} <InputDim> 3 <OutputDim> 2 <CellDim> 2 <GradClip> 7"
    nnet = nnet1.Nnet([_made(line)])
    modern = nnet1.to_bytes(nnet, binary=False).decode()
    text = modern.replace(marker, old).replace("<!EndOfComponent> ", "")
    text = text.replace("<GradClip> 7", "<ClipGradient> 7")
    text = re.sub("<(Learn|Bias|Cell(Diff)?Clip|Diff)[^<\n]*", "", text)
    assert text.count("<") == 5 and "<CellDim> 2 <ClipGradient> 7" in text
    again = nnet1.parse(io.BytesIO(text.encode()), "net")
    assert nnet1.to_bytes(again, binary=False).decode() == modern


def test_options_in_any_order_or_absent():
    layer = _parse(
        "<ConvolutionalComponent> 2 3 <Bias> [ 1 ] <MaxNorm> 3 <PatchStep> 1 "
        "<Filters> [ 1 2 ] <PatchStride> 3 <PatchDim> 2"
    )
    assert (layer.max_norm, layer.learn_rate_coef) == (3, 1)
    assert layer.propagate(np.array([[1, 2, 3]], np.float32)).tolist() == [[6, 9]]
    pooling = _parse(
        "<MaxPoolingComponent> 2 4 <PoolStride> 2 <PoolStep> 1 <PoolSize> 2"
    )
    assert (pooling.pool_size, pooling.pool_step, pooling.pool_stride) == (2, 1, 2)
    averaging = _parse("<SimpleSentenceAveragingComponent> 2 2 <OnlySumming> T")
    assert (averaging.gradient_boost, averaging.only_summing) == (100, True)
    recurrent = _parse("<RecurrentComponent> 1 1 <DiffClip> 3 [ 1 ] [ 1 ] [ 1 ]")
    assert (recurrent.grad_clip, recurrent.diff_clip) == (250, 3)


@pytest.mark.parametrize(
    "text, message",
    [
        ("<MaxPoolingComponent> 2 4", "has PoolSize 0; 1 is the least"),
        (
            "<MaxPoolingComponent> 2 4 <PoolSize> 2 <PoolStep> 1 <PoolStride> 3",
            "which do not fill input dimension 4 evenly",
        ),
        (
            "<AveragePoolingComponent> 4 4 <PoolSize> 2 <PoolStep> 1 <PoolStride> 2",
            "pools that make output dimension 2, not 4",
        ),
        (
            "<ConvolutionalComponent> 2 3 <PatchDim> 2 <PatchStep> 2 <PatchStride> 3",
            "patches of 2 in steps of 2 over frames of 3, which do not fill",
        ),
        (
            "<ConvolutionalComponent> 3 3 <PatchDim> 2 <PatchStep> 1 <PatchStride> 3",
            "2 patches, of which output dimension 3 must be a multiple",
        ),
        (
            "<ConvolutionalComponent> 2 3 <PatchDim> 2 <PatchStep> 1 <PatchStride> 3",
            "filters of shape 0 x 0, but its dimensions ask for 1 x 2",
        ),
        ("<BlockSoftmax> 3 3 [ 1 1 ]", "blocks of [ 1 1 ]; sizes of 1 and more are"),
        ("<BlockSoftmax> 3 3 [ 4 -1 ]", "that add up to the output dimension 3"),
        ("<Copy> 2 2 [ 1 ]", "names 1 columns, but its output dimension is 2"),
        ("<Copy> 2 2 [ 0 1 ]", "names column 0; its input has 1 to 2"),
        ("<Copy> 2 2 [ 1 3 ]", "names column 3; its input has 1 to 2"),
        ("<Rbm> 1 1 bern poisson", "expected bern or gauss, found 'poisson'"),
        (
            "<KlHmm> 1 2 [ 1 ]",
            "states of shape 1 x 1, but its dimensions ask for 1 x 2",
        ),
        ("<FramePoolingComponent> 2 2 <FeatureDim> 0", "FeatureDim 0; 1 is the least"),
        (
            "<FramePoolingComponent> 2 4 <FeatureDim> 2 <FrameWeight>",
            "0 pools of feature dimension 2, which do not fit dimensions 4 and 2",
        ),
        (
            "<FramePoolingComponent> 2 4 <FeatureDim> 2 <FrameOffset> [ 0 ]",
            "lacks the weights of its 1 pools",
        ),
        (
            "<FramePoolingComponent> 2 4 <FeatureDim> 2 <FrameOffset> [ 1 ] "
            "<FrameWeight> [ 1 1 ]",
            "pool 1 of 2 frames from frame 1 on; there are frames 0 to 1",
        ),
        ("<LstmProjected> 2 2 [ 1 ]", "has CellDim 0; 1 is the least"),
        ("<LstmProjected> 2 2 <CellDim> 1 <Foo> 3", "expected a matrix"),
        ("<BlstmProjected> 3 2 <CellDim> 1", "dimension 3, which must be even"),
        ("<TimeShift> 2 2 5", "<TimeShift> at byte 0 is not supported: it is older"),
        ("<Transmit> 2 2", "it changes nothing, so leave it out."),
    ],
)
def test_files_that_do_not_fit(text, message):
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        _parse(text)
    assert "\n" not in str(caught.value)


def test_odd_outputs_of_two_directions():
    with pytest.raises(InputError, match="output dimension 3, which must be even"):
        _made("<BlstmProjected> <InputDim> 3 <OutputDim> 3 <CellDim> 2")


# Prototypes.

_DIMS = "<InputDim> 6 <OutputDim> 6"


@pytest.mark.parametrize(
    "line, values",
    [
        (
            f"<LstmProjected> {_DIMS} <CellDim> 5",
            dict(cell_clip=50, diff_clip=1, cell_diff_clip=0, grad_clip=250)
            | dict(learn_rate_coef=1, bias_learn_rate_coef=1, cell_dim=5),
        ),
        (
            f"<BlstmProjected> {_DIMS} <CellDim> 5 <CellDiffClip> 2 <LearnRateCoef> 3",
            dict(cell_diff_clip=2, learn_rate_coef=3, diff_clip=1),
        ),
        (
            f"<ParametricRelu> {_DIMS}",
            dict(alpha_learn_rate_coef=0, beta_learn_rate_coef=0),
        ),
        (
            f"<SimpleSentenceAveragingComponent> {_DIMS}",
            dict(gradient_boost=100, shrinkage=0, only_summing=False),
        ),
        (
            f"<SimpleSentenceAveragingComponent> {_DIMS} <OnlySumming> T",
            dict(only_summing=True),
        ),
        (
            f"<RecurrentComponent> {_DIMS}",
            dict(learn_rate_coef=1, bias_learn_rate_coef=1, diff_clip=1),
        ),
        (
            f"<ConvolutionalComponent> {_DIMS} <PatchDim> 1 <PatchStep> 1 "
            "<PatchStride> 6",
            dict(learn_rate_coef=1, bias_learn_rate_coef=1, max_norm=0),
        ),
        (
            f"<Rbm> {_DIMS} <VisibleType> Gaussian <HiddenType> Bernoulli",
            dict(visible_type="gauss", hidden_type="bern"),
        ),
        (
            "<FramePoolingComponent> <InputDim> 10 <OutputDim> 4 <FeatureDim> 2 "
            "<CentralOffset> [ 0 -1 ] <PoolSize> [ 3 -2 ]",
            dict(learn_rate_coef=0.01, normalize=False, frame_offsets=[2, 0]),
        ),
    ],
)
def test_defaults_of_prototypes(line, values):
    made = _made(line)
    for name, value in values.items():
        assert getattr(made, name) == pytest.approx(value), name


def test_weights_of_prototypes():
    dims = "<InputDim> 100 <OutputDim> 100"
    lstm = _made(f"<LstmProjected> {dims} <CellDim> 50")
    for name, array in lstm.parameters().items():
        assert np.abs(array).max() <= 0.1, name
        assert np.abs(array).max() > 0.08, name
    blstm = _made(f"<BlstmProjected> {dims} <CellDim> 50")
    gates = blstm.b_bias.reshape(4, 50)
    assert np.abs(gates[[0, 1, 3]]).max() <= 0.1 and np.abs(gates[2] - 1).max() <= 0.11
    recurrent = _made(f"<RecurrentComponent> {dims}")
    assert 0.019 < np.abs(recurrent.w_forward).max() <= 0.02
    rbm = _made(f"<Rbm> {dims} <VisibleType> bern <HiddenType> bern")
    # Four standard errors of 10,000 normal numbers.
    assert abs(rbm.linearity.std() - 0.1) < 4 * 0.1 / 100 / np.sqrt(2)
    assert not rbm.visible_bias.any() and not rbm.hidden_bias.any()
    relu = _made(f"<ParametricRelu> {dims} <Alpha> 2 <Beta> -1")
    assert relu.alpha.tolist() == [2] * 100 and relu.beta.tolist() == [-1] * 100


def test_pool_weights_of_prototypes():
    line = (
        "<FramePoolingComponent> <InputDim> 10 <OutputDim> 4 <FeatureDim> 2 "
        "<CentralOffset> [ 0 -1 ] <PoolSize> [ 2 -2 ]"
    )
    assert [w.tolist() for w in _made(line).frame_weights] == [[0.5, 0.5], [0.5, 0.5]]
    weighted = _made(f"{line} <PoolWeight> [ 1 2 3 4 ]")
    assert [w.tolist() for w in weighted.frame_weights] == [[1, 2], [3, 4]]


def test_visible_biases_of_cmvn_statistics(tmp_path):
    stats = np.array([[25, 75, 200, -100, 100], [25, 75, 400, 100, 0]])
    path = str(tmp_path / "1.cmvn")
    nnet1.write(path, nnet_edit.cmvn_to_nnet(stats))
    rbm = _made(
        "<Rbm> <InputDim> 4 <OutputDim> 2 <VisibleType> bern <HiddenType> bern "
        f"<VisibleBiasCmvnFilename> {path}"
    )
    edge = np.log(0.9999 / 0.0001)
    expected = [np.log(0.25 / 0.75), np.log(0.75 / 0.25), edge, -edge]
    np.testing.assert_allclose(rbm.visible_bias, expected, rtol=1e-4)


@pytest.mark.parametrize(
    "line, message",
    [
        (f"<LstmProjected> {_DIMS}", "p:1: <CellDim> is missing"),
        (f"<LstmProjected> {_DIMS} <CellDim> 0", "has CellDim 0; 1 is the least"),
        (
            f"<LstmProjected> {_DIMS} <CellDim> 5 <ParamScale> 0.01",
            "option <ParamScale> is not known; taken: <ParamRange>",
        ),
        (f"<LstmProjected> {_DIMS} <CellDim> 999999999", "is too large"),
        ("<KlHmm> <InputDim> 999999999 <OutputDim> 999999999", "is too large"),
        (f"<Rbm> {_DIMS} <HiddenType> bern", "<VisibleType> is missing"),
        (f"<Rbm> {_DIMS} <VisibleType> x", "<VisibleType> is 'x'; bern and gauss are"),
        (
            f"<BlockSoftmax> {_DIMS} <BlockDims> 3:x",
            "takes [ whole numbers ], not '3:x'",
        ),
        (f"<BlockSoftmax> {_DIMS} <BlockDims> 3:4", "blocks of [ 3 4 ]"),
        (f"<Copy> {_DIMS} <BuildVector> 1:5 9", "names column 9; its input has 1 to 6"),
        (
            f"<SimpleSentenceAveragingComponent> {_DIMS} <OnlySumming> maybe",
            "<OnlySumming> takes T or F, not 'maybe'",
        ),
        (
            f"<FramePoolingComponent> {_DIMS} <FeatureDim> 2 <CentralOffset> [ 0 ] "
            "<PoolSize> [ 1 1 ]",
            "as many <PoolSize> as <CentralOffset>, none of them 0; found 2 and 1",
        ),
        (
            f"<FramePoolingComponent> {_DIMS} <FeatureDim> 2 <CentralOffset> [ 0 ] "
            "<PoolSize> [ 2 ] <PoolWeight> [ 1 ]",
            "takes 2 numbers in <PoolWeight>, as its pools have frames; found 1",
        ),
        (
            f"<FramePoolingComponent> {_DIMS} <FeatureDim> 2 <CentralOffset> [ 0 ] "
            "<PoolSize> [ 999999999 ]",
            "pools that are too large",
        ),
        (f"<TimeShift> {_DIMS} <Shift> 5", "a <Splice> of the one offset that is its"),
        (f"<Transmit> {_DIMS}", "<Transmit> is not supported: it is older"),
    ],
)
def test_prototypes_no_component_can_be_made_of(line, message):
    with pytest.raises(InputError, match=re.escape(message)):
        _made(line)
