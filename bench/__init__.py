"""Benchmarks, each of which measures two ways of doing the same thing in turns."""
