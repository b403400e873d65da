"""Rooms: a class follows what its teacher presents, and answers questions.

Stores rooms in memory and a file, or in Redis, until they expire. Uses `collections`, `lessons` and
`shares`, which a room presents, and `figures`, whose goals works are handed in for.
"""
