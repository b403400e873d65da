"""Attention over long texts: a pass keeps q, k and the log-sum-exp, and weights follow by slice."""
