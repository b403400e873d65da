"""Converts models in PyPI packages to the folders that `hf:path` opens."""
