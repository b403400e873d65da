"""Attention over long texts: a pass keeps q, k and log-sum-exp; weights are computed by slice."""
