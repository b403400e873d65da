"""The Transformer of "Attention Is All You Need", and the trace of what happens inside it."""

from model.adapters import load

__all__ = ["load"]
