"""Shares: a state with its results, frozen under a short link.

Stores shares in the database. Uses `traces`, `figures`, `lab`, `long_texts` and `models`: what can
be frozen is in its schemas.
"""
