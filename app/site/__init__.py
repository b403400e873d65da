"""The page as a folder for any static host, in which the model runs (docs/site.md).

Stores nothing; uses `local_models` for what a page loads, `figures` for links, and `lessons`.
"""
