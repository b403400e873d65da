"""Training: parallel text in, a model bundle out. `model.train.run.train` is the way in."""
