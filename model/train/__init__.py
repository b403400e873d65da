"""Training: from parallel text to a model bundle; `model.train.run.train` is the entry point."""
