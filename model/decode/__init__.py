"""Decoding: greedy, sampling and beam search as generators of steps."""
