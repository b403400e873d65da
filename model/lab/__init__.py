"""Attention by hand: matrices of one's own through the parts of the Transformer, step by step."""
