"""SavedModels of acoustic/cnn, autoencoder, bottleneck and multilingual, checked."""

import pytest

from seqzoo.export import saved_model
from seqzoo.zoo import registry
from tests.acoustic_models_test import CONFIGS


@pytest.mark.parametrize("name", CONFIGS)
def test_a_process_without_our_code_gives_the_same(name, tmp_path):
    _, model = registry.make(f"acoustic/{name}", CONFIGS[name])
    saved_model.export(model, str(tmp_path / "served"), check=True)
