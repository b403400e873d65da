"""The adapter of this repository's Transformer, and the runs of its batches."""
