"""Handouts: a state or a share as one HTML file that needs no server.

Stores nothing. Uses `shares`, `figures`, `traces`, `lab` and `long_texts`.
"""
