"""What heads do over many sentences: an index of attention rows on disk, and searches in it."""
