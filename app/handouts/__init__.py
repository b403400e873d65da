"""Handouts: a state or a share as one HTML file that needs no server.

Stores nothing. Uses `shares`, `figures`, `traces`, `local_models`, `lab` and `long_texts`.
"""
