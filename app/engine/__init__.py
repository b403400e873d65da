"""Batches for the models, and their replies on the wire."""
