"""Challenges: works that are to reach a goal, checked on a live run of the model.

Stores nothing. Uses `figures`, whose links are works, and `traces`, which runs them.
"""
