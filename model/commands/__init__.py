"""What `python -m model` can do: a file a command, named after it.

Each has `add_arguments(parser)` and `run(asked)`; its docstring is its help. What a command does is
in `model.train` and `model.measure`.
"""
