"""Middleware, negotiation and problem documents: what every route shares."""
