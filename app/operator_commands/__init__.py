"""What an operator does with what is stored: export, import, prune and withdraw it.

Stores nothing. Uses `collections` and `shares`.
"""
