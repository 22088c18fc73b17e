import re

import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import nnet_proto
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
