"""Runs pytest on the test files named: the main program of every Bazel test."""

import os
import sys

import pytest


def main(paths: list[str]) -> int:
    """Pytest's exit code; no test found is a failure, too."""
    options = ["-p", "no:cacheprovider"]
    if report := os.environ.get("XML_OUTPUT_FILE"):
        options.append(f"--junitxml={report}")
    if only := os.environ.get("TESTBRIDGE_TEST_ONLY"):
        options += ["-k", only]
    return pytest.main([*options, *paths])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
