"""Training that can be watched: its options, its loop and its events."""
