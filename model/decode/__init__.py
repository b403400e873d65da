"""Writing a translation: greedy, sampling and beam search as generators of steps."""
