"""Attention by hand: your own matrices through the parts of the Transformer, step by step."""
