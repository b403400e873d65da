"""Rooms: a class that follows what its teacher presents."""
