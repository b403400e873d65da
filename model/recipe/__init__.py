"""A recipe: every stage from text files to a measured model with its card, in one file."""
