import dataclasses
import subprocess
import sys
import types
from typing import Literal

import pytest

from seqzoo.datasets.errors import InputError
from seqzoo.zoo import registry


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Config:
    """Settings of a model that is not there."""

    width: int = 8
    """Units in a layer,
    all alike."""

    rate: float = 0.5
    """Share."""

    softmax: bool = True

    activation: Literal["sigmoid", "tanh"] = "sigmoid"

    offsets: tuple[int, ...] = (-1, 0, 1)

    scales: tuple[float, ...] = (1.0, 0.1)

    span: tuple[int, int] = (0, 9)

    name: str = ""

    limit: int | None = None

    def __post_init__(self):
        if self.width < 1:
            raise ValueError("width must be positive.")


@pytest.fixture
def toy(monkeypatch):
    """A registered model, `toy/net`, whose builder puts its settings in a list."""
    module = types.ModuleType("toy_net")
    module._Config = _Config
    monkeypatch.setitem(sys.modules, "toy_net", module)
    entry = registry.Entry("toy_net", "toy_net:_Config", "a toy")
    monkeypatch.setitem(registry.MODELS, "toy/net", entry)
    monkeypatch.setattr(registry, "_builders", dict(registry._builders))
    registry.register("toy/net", _Config)(lambda config: [config])
    return "toy/net"


def test_make_without_overrides(toy):
    config, model = registry.make(toy)
    assert config == _Config()
    assert model == [config]


@pytest.mark.parametrize(
    "override, field, value",
    [
        ("width=512", "width", 512),
        ("rate=1e-3", "rate", 0.001),
        ("rate=2", "rate", 2.0),
        ("softmax=false", "softmax", False),
        ("softmax=True", "softmax", True),
        ("activation=tanh", "activation", "tanh"),
        ("offsets=-5:5", "offsets", tuple(range(-5, 6))),
        ("offsets=1,2,3", "offsets", (1, 2, 3)),
        ("offsets=-3,-1:1,9", "offsets", (-3, -1, 0, 1, 9)),
        ("offsets=0", "offsets", (0,)),
        ("offsets=", "offsets", ()),
        ("offsets={4,5}", "offsets", (4, 5)),
        ("scales=0.5,2", "scales", (0.5, 2.0)),
        ("span=3,4", "span", (3, 4)),
        ("name=a=b", "name", "a=b"),
        ("limit=3", "limit", 3),
        ("limit=none", "limit", None),
    ],
)
def test_values_by_type(toy, override, field, value):
    found = getattr(registry.config(toy, [override]), field)
    assert found == value
    assert type(found) is type(value)


def test_the_later_override_holds(toy):
    assert registry.config(toy, ["width=1", "width=2"]).width == 2


@pytest.mark.parametrize(
    "override, message",
    [
        ("widht=3", "toy/net: no setting 'widht'; did you mean width?"),
        ("q=3", "toy/net: no setting 'q'; it has width, rate,"),
        ("width", "toy/net: 'width' is not of the form field=value."),
        ("width=3.5", "toy/net: width=3.5: a whole number is taken."),
        ("rate=x", "toy/net: rate=x: a number is taken."),
        ("softmax=2", "toy/net: softmax=2: true or false is taken."),
        ("activation=relu", "toy/net: activation=relu: one of sigmoid, tanh is taken."),
        ("offsets=1;2", "toy/net: offsets=1;2: a whole number is taken."),
        ("offsets=5:-5", "a range first:last of whole numbers is taken."),
        ("span=1", "toy/net: span=1: 2 values with commas between is taken."),
        ("limit=x", "toy/net: limit=x: a whole number or none is taken."),
        ("width=0", "toy/net: width must be positive."),
    ],
)
def test_errors(toy, override, message):
    with pytest.raises(InputError) as raised:
        registry.config(toy, [override])
    assert message in str(raised.value)


@pytest.mark.parametrize("name", ["acoustic/dn", "dnn", "acustic/dnn"])
def test_an_unknown_model_gets_the_nearest(name):
    with pytest.raises(
        InputError, match=f"no model '{name}'; did you mean acoustic/dnn"
    ):
        registry.make(name)


def test_an_unknown_model_like_none():
    with pytest.raises(InputError, match="no model 'zzz'; there are acoustic/dnn"):
        registry.config("zzz")


def test_settings_can_be_read_back(toy):
    found = registry.settings(toy)
    assert found[0] == ("width", "8", "Units in a layer, all alike.")
    assert ("offsets", "-1:1", "") in found
    assert ("scales", "1,0.1", "") in found
    overrides = [f"{name}={default}" for name, default, _ in found]
    assert registry.config(toy, overrides) == _Config()


@pytest.mark.parametrize("name", [*registry.MODELS])
def test_every_model_has_settings_that_are_told(name):
    for field, default, meaning in registry.settings(name):
        assert meaning, f"{name}: nothing tells what {field} is"
        registry.config(name, [f"{field}={default}"])


@pytest.mark.parametrize("name", [*registry.MODELS])
def test_settings_are_known_without_tensorflow(name):
    code = (
        "import sys; from seqzoo.zoo import registry; registry.settings(sys.argv[1]); "
        "sys.exit('tensorflow' in sys.modules)"
    )
    environment = {"PYTHONPATH": ":".join(sys.path)}
    done = subprocess.run([sys.executable, "-c", code, name], env=environment)
    assert done.returncode == 0


def test_models_are_registered_under_their_names():
    for name, entry in registry.MODELS.items():
        __import__(entry.module)
        assert registry._builders[name][0] is registry._config_class(name)
