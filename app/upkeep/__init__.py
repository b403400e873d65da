"""What an operator does with what is stored: export, import and prune it.

Stores nothing. Uses `shares`.
"""
