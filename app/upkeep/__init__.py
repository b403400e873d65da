"""What an operator does with what is stored: export, import and prune it, and withdraw
collections from the shelf.

Stores nothing. Uses `collections` and `shares`.
"""
