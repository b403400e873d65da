"""Training: parallel text in, a model bundle out. `python -m model.train --help`."""
