"""Attention over long texts: pictures of all heads, and windows of some.

Stores nothing. Uses `traces` and `figures`.
"""
