"""Traces of sentences: run one, decode it, sweep changes over it, and its positional encodings.

Stores nothing. Uses no other subject.
"""
