"""What the recipe of `acoustic/dbn` is told."""

import dataclasses

from seqzoo.zoo.acoustic.feature_options import FeatureOptions, SetSource

__all__ = ["DbnRecipe", "SetSource"]


@dataclasses.dataclass(frozen=True, kw_only=True)
class DbnRecipe(FeatureOptions):
    """All that steps/nnet/pretrain_dbn.sh is told; there are no labels."""

    rbm_iter: int = 1
    """Passes over the data for each RBM; twice as many for one of Gaussian inputs."""

    hours: float | None = None
    """Size of the data; `rbm_iter` is then for 100 hours, and smaller sets get more
    passes, by `100 / hours`. None leaves it as it is."""

    rbm_lrate: float = 0.4
    """Learning rate of RBMs of binary inputs."""

    rbm_lrate_low: float = 0.01
    """Learning rate of one of Gaussian inputs."""

    max_frames: int = 6000
    """Longer utterances are left out."""

    randomizer_seed: int = 777
    """Of the shuffles and the hidden states."""

    binary: bool = True
    """Write networks in binary; text otherwise."""

    def passes(self, visible_type: str) -> int:
        """Over the data, for an RBM of such inputs; at least 1."""
        scale = 1.0 if self.hours is None else 100 / self.hours
        twice = 2 if visible_type == "gauss" else 1
        return max(1, round(self.rbm_iter * scale)) * twice

    def learn_rate(self, visible_type: str) -> float:
        """Of an RBM of such inputs."""
        return self.rbm_lrate_low if visible_type == "gauss" else self.rbm_lrate
