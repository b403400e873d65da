"""Explaining a run: patterns of heads, the logit lens, contributions, relevance."""
