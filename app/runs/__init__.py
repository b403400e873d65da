"""Training runs: their processes, their queue, their events, and the models that are kept.

Stores runs and kept models in the data folder, until they expire. Uses `figures` and `traces`.
"""
