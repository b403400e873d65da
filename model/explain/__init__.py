"""What a run says about itself: patterns of heads, the logit lens, contributions, relevance."""
