import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo.checkpoints import components, nnet1, nnet2_raw


def test_text_of_each_kind_of_statistics():
    nnet = nnet1.Nnet([components.Sigmoid(2, 2)])
    assert nnet2_raw.to_text(nnet) == (
        "<Nnet> <NumComponents> 1 <Components> <SigmoidComponent> <Dim> 2 "
        "<ValueSum>  [ ]\n<DerivSum>  [ ]\n<Count> 0 </SigmoidComponent> \n"
        "</Components> </Nnet> "
    )


def test_a_file_of_the_text(tmp_path):
    nnet = nnet1.Nnet([components.Splice(1, 2, [0, 1])])
    nnet2_raw.write(str(tmp_path / "raw"), nnet)
    assert (tmp_path / "raw").read_text() == nnet2_raw.to_text(nnet)


def test_components_that_nnet2_is_not_given(tmp_path):
    nnet = nnet1.Nnet([components.Sigmoid(2, 2), components.HiddenSoftmax(2, 2)])
    match = (
        "component 2 <HiddenSoftmax> is not converted to nnet2; these are: <AddShift>"
    )
    with pytest.raises(InputError, match=match):
        nnet2_raw.write(str(tmp_path / "raw"), nnet)
    assert not (tmp_path / "raw").exists()
