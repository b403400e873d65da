"""Attention by hand: small matrices, step by step, and the kinds of figures that show it.

Stores nothing. Uses `figures`.
"""
