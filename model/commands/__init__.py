"""The commands of `python -m model`: one file per command.

Each has `add_arguments(parser)` and `run(asked)`; its docstring is its help. The work itself is
in `model.train` and `model.measure`.
"""
