"""Figures: what a link shows, the register of kinds of figures, and pictures of their weights.

Stores nothing. Uses `traces`.
"""
