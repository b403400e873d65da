"""Middleware, content negotiation and problem documents shared by all routes."""
