"""The Transformer of the paper and its variants: a reader starts here."""
