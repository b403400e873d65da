"""Benchmarks of what recording costs: two ways of doing the same thing, measured side by side."""
