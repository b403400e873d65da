"""Adapters, which turn a request into a trace, for any model."""
