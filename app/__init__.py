"""The server: pages, API and shares. It imports `model`; `model` never imports it."""

__version__ = "0.1.0"
