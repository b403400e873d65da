"""Models that run in a page (docs/site.md): what such a page loads, and models kept exported.

Stores them in the data folder, by digest; uses `traces` for the description of a model.
"""
