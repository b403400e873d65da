"""Attention by hand: the steps of the Transformer's parts on the user's own matrices."""
