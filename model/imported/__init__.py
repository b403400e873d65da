"""Conversion of models that PyPI packages carry into the folders that `hf:path` opens."""
