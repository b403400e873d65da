"""The zoo: small models trained on simple tasks, and how well they do.

Stores nothing. Uses `figures`.
"""
