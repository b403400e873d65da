"""The commands of `python -m model`: a class for each, in one file for each group.

The work itself is in `model.train` and `model.measure`.
"""
