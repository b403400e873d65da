"""The server: pages, API, shares. It imports `model`, never the other way round."""

__version__ = "0.1.0"
