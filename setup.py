"""Installs the folders of this tree as the namespace package `seqzoo`."""

import pathlib

import setuptools

FOLDERS = ("layers", "datasets", "zoo", "export")


def packages() -> list[str]:
    """`seqzoo.layers`, `seqzoo.zoo`, `seqzoo.zoo.acoustic`, ..."""
    found = []
    for folder in FOLDERS:
        found.append(folder)
        found += [f"{folder}.{name}" for name in setuptools.find_packages(folder)]
    return [f"seqzoo.{name}" for name in found]


setuptools.setup(
    name="seqzoo",
    version="0.1.0",
    description="Sequence models of Kaldi nnet1, CNTK, Caffe and Torch7 on TensorFlow.",
    long_description=pathlib.Path("README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="Apache-2.0",
    python_requires=">=3.11",
    packages=packages(),
    package_dir={f"seqzoo.{folder}": folder for folder in FOLDERS},
    package_data={
        **{f"seqzoo.{folder}": ["py.typed"] for folder in FOLDERS},
        "seqzoo.datasets": ["py.typed", "corpora/**/*"],
        "seqzoo.zoo.language": ["presets/**/*"],
    },
    install_requires=[
        "absl-py>=2.1",
        "keras>=3.12",
        "matplotlib>=3.8",
        "numpy>=1.26",
        "tensorboard>=2.17",
        "tensorflow>=2.17,<2.22",
        "tqdm>=4.66",
    ],
    extras_require={
        "test": [
            "hypothesis",
            "import-linter",
            "kaldi_native_io",
            "mypy",
            "pytest",
            "pytest-xdist",
            "ruff",
        ],
        "io": ["tensorflow==2.17.*", "tensorflow-io==0.37.1"],
        "bench": ["kaldi_native_io", "torch"],
    },
    entry_points={"console_scripts": ["seqzoo=seqzoo.zoo.commands.main:main"]},
)
