import re

import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import (
    make_cnn_proto,
    make_lstm_proto,
    nnet_proto,
    proto_options,
)
from seqzoo.zoo.checkpoints.make_proto import make_nnet_proto, parse_proto_opts


def test_a_last_layer_on_top_of_a_dbn():
    assert make_nnet_proto(2048, 3370, 0, 1024, proto_head=True) == (
        "<NnetProto>\n"
        "<AffineTransform> <InputDim> 2048 <OutputDim> 3370 <BiasMean> 0.000000 "
        "<BiasRange> 0.000000 <ParamStddev> 0.067246\n"
        "<Softmax> <InputDim> 3370 <OutputDim> 3370\n"
        "</NnetProto>\n"
    )


def test_options_for_regression_with_tanh():
    options = parse_proto_opts(
        "--no-softmax --activation-type=<Tanh> --hid-bias-mean=0.0 --hid-bias-range=1.0"
    )
    assert options == {
        "softmax": False,
        "activation_type": "<Tanh>",
        "hid_bias_mean": 0.0,
        "hid_bias_range": 1.0,
    }
    proto = make_nnet_proto(10, 4, 2, 8, **options)
    assert "Softmax" not in proto and "Sigmoid" not in proto
    assert proto.count("<Tanh>") == 2
    assert proto.count("<BiasMean> 0.000000 <BiasRange> 1.000000") == 2


@pytest.mark.parametrize(
    "text, expected",
    [
        ("", {}),
        ("--bottleneck-dim 30", {"bottleneck_dim": 30}),
        ("--with-dropout --max-norm=8", {"with_dropout": True, "max_norm": 8.0}),
        ("--affine-opts '<MaxNorm> 1'", {"affine_opts": "<MaxNorm> 1"}),
    ],
)
def test_option_strings(text, expected):
    assert parse_proto_opts(text) == expected


@pytest.mark.parametrize(
    "text, message",
    [
        (
            "--hid-bias-men=1",
            "--hid-bias-men is not known; did you mean --hid-bias-mean?",
        ),
        ("--zzz=1", "known: --activation-opts, "),
        ("--max-norm=big", "--max-norm=big is not of type float"),
        ("--max-norm", "--max-norm lacks its value"),
        ("--no-softmax=true", "takes no value"),
        ("no-softmax", "'no-softmax' is not of the form --name=value"),
        ("--affine-opts='", "No closing quotation"),
    ],
)
def test_wrong_option_strings(text, message):
    with pytest.raises(InputError, match=re.escape(message)):
        parse_proto_opts(text)


def test_unknown_keyword():
    with pytest.raises(InputError, match="did you mean max_norm?"):
        make_nnet_proto(1, 1, 1, 1, max_nrm=1)


@pytest.mark.parametrize(
    "dims, options, message",
    [
        ((0, 1, 1, 1), {}, "feat_dim is 0; 1 is the least"),
        ((1, 1, -1, 1), {}, "num_hid_layers is -1; 0 is the least"),
        ((1, 3, 1, 1), {"block_softmax_dims": "1:1"}, "add up to the 3 outputs"),
        ((1, 3, 1, 1), {"block_softmax_dims": "a:1"}, "add up to the 3 outputs"),
    ],
)
def test_dimensions_that_make_no_sense(dims, options, message):
    with pytest.raises(InputError, match=re.escape(message)):
        make_nnet_proto(*dims, **options)


def test_options_reach_the_network():
    proto = make_nnet_proto(
        6,
        3,
        1,
        4,
        bottleneck_dim=2,
        with_dropout=True,
        dropout_opts="<DropoutRate>_0.3",
        affine_opts="<MaxNorm>_2",
    )
    nnet = nnet_proto.initialize(proto)
    assert [c.marker for c in nnet.components] == [
        "<AffineTransform>",
        "<Sigmoid>",
        "<Dropout>",
        "<LinearTransform>",
        "<AffineTransform>",
        "<Sigmoid>",
        "<Dropout>",
        "<AffineTransform>",
        "<Softmax>",
    ]
    affine, dropout, linear = (nnet.components[i] for i in (0, 2, 3))
    assert affine.max_norm == 2
    assert dropout.dropout_rate == pytest.approx(0.3)
    assert (linear.output_dim, linear.learn_rate_coef) == (2, pytest.approx(0.1))


# Convolutions.


def _cnn(feat_dim=36, **options):
    small = dict(splice=1, num_filters1=4, num_filters2=3, patch_dim1=4, patch_dim2=2)
    return feat_dim, small | options


def test_a_dnn_goes_behind_the_convolutions():
    # 12 frequencies: 9 patches, 3 pools, 2 patches.
    dims, options = _cnn(108)
    front = make_cnn_proto.make_cnn_proto(dims, **options)
    last = make_nnet_proto(2 * 3, 5, 1, 8, smaller_input_weights=False)
    nnet = nnet_proto.initialize(front + last)
    assert [c.output_dim for c in nnet.components][:2] == [36, 12]
    assert nnet.components[8].output_dim == 6
    assert nnet.output_dim == 5


def test_pitch_goes_around_the_convolutions(tmp_path):
    dims, options = _cnn(
        14 * 3, pitch_dim=2, delta_order=0, num_pitch_neurons=7, dir=str(tmp_path)
    )
    text = make_cnn_proto.make_cnn_proto(dims, **options)
    for name, nested in make_cnn_proto.make_pitch_protos(dims, **options).items():
        (tmp_path / name).write_text(nested)
    nnet = nnet_proto.initialize(text)
    copy, parallel = nnet.components
    # Three frames of 12 frequencies and 2 numbers of pitch.
    frequencies = [14 * frame + column for frame in range(3) for column in range(12)]
    pitch = [14 * frame + column for frame in range(3) for column in (12, 13)]
    assert copy.columns == frequencies + pitch
    assert [(net.input_dim, net.output_dim) for net in parallel.nets] == [
        (36, 6),
        (6, 7),
    ]
    assert make_cnn_proto.make_pitch_protos(*_cnn(108)[:1], splice=1) == {}


@pytest.mark.parametrize(
    "feat_dim, options, message",
    [
        (107, {}, "feat_dim: 107 is not a whole number of frames with deltas of 9"),
        (99, {}, "patches after a pool: 5 is not a whole number of steps of 3"),
        (27, {}, "frequencies after the first patch: 1 are missing"),
        (108, {"pool_type": "Min"}, "pool_type is 'Min'; Max and Average are taken"),
        (108, {"patch_step1": 0}, "patch_step1 is 0; 1 is the least"),
        (108, {"num_filter1": 1}, "did you mean num_filters1?"),
    ],
)
def test_convolutions_that_make_no_sense(feat_dim, options, message):
    dims, options = _cnn(feat_dim, **options)
    with pytest.raises(InputError, match=re.escape(message)):
        make_cnn_proto.make_cnn_proto(dims, **options)


# LSTMs.


def test_layers_of_lstms():
    text = make_lstm_proto.make_lstm_proto(
        3, 4, cell_dim=5, proj_dim=2, num_layers=3, cell_clip=7.0
    )
    nnet = nnet_proto.initialize(text)
    assert [c.input_dim for c in nnet.components] == [3, 2, 2, 2, 2, 4]
    assert [c.cell_clip for c in nnet.components[:3]] == [7, 7, 7]
    assert nnet.components[0].grad_clip == 250


def test_the_last_blstm_may_be_wider():
    text = make_lstm_proto.make_blstm_proto(
        3, 4, cell_dim=5, proj_dim=2, proj_dim_last=6
    )
    nnet = nnet_proto.initialize(text)
    assert [c.output_dim for c in nnet.components] == [4, 12, 12, 4, 4]


def test_option_strings_of_lstms():
    text = "--cell-dim 8 --lstm-param-range=0.05"
    options = proto_options.parse(text, make_lstm_proto.LstmProtoOptions)
    assert options == {"cell_dim": 8, "lstm_param_range": 0.05}
    with pytest.raises(InputError, match="--cell-clip=x is not of type float"):
        proto_options.parse("--cell-clip=x", make_lstm_proto.LstmProtoOptions)
    with pytest.raises(InputError, match="--proj-dim-last is not known"):
        proto_options.parse("--proj-dim-last=1", make_lstm_proto.LstmProtoOptions)


@pytest.mark.parametrize(
    "options, message",
    [
        ({"num_layers": 0}, "num_layers is 0; 1 is the least"),
        ({"proj_dim": 0}, "proj_dim is 0; 1 is the least"),
        ({"proj": 1}, "proj is not known"),
    ],
)
def test_lstms_that_make_no_sense(options, message):
    for make in (make_lstm_proto.make_lstm_proto, make_lstm_proto.make_blstm_proto):
        with pytest.raises(InputError, match=message):
            make(3, 4, **options)
