"""A trained model on disk: weights, vocabulary, card and what was measured of it."""
