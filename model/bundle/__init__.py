"""A trained model on disk: weights, vocabulary, card and measurements."""
