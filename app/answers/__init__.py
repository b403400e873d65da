"""Replies of the routes, independent of HTTP."""
