"""Shares in a database."""
