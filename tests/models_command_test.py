from seqzoo.zoo import presets, registry
from seqzoo.zoo.commands import main
from seqzoo.zoo.language import run_files


def test_a_line_for_each_model(capsys):
    assert main.main(["models"]) == 0
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines[: len(registry.MODELS)]]
    assert names == list(registry.MODELS)


def test_recipes_and_trained_models(capsys):
    assert main.main(["models"]) == 0
    page = capsys.readouterr().out
    for name in (*presets.PRESETS, *map("preset:{}".format, run_files.presets())):
        assert f"\n{name} " in page


def test_the_settings_of_a_model(capsys):
    assert main.main(["models", "acoustic/dnn"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "hidden_dim=2048" in lines
    assert lines[lines.index("offsets=-5:5") + 1].startswith("    Frames of context")


def test_an_unknown_model(capsys):
    assert main.main(["models", "acoustic/dmn"]) == 1
    assert capsys.readouterr().err == (
        "seqzoo models: no model 'acoustic/dmn'; did you mean acoustic/dnn?\n"
    )
