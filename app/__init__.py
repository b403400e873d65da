"""The server: pages, API, shares. It imports `model`; `model` knows nothing of it."""

__version__ = "0.1.0"
