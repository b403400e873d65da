"""The models that are served: their list, cards, parameters and training histories.

Stores nothing. Uses `traces`, `heads` and `runs`.
"""
