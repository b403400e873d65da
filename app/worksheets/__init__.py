"""Worksheets: a page to print, with blanks, room for answers, and an answer key of its own.

Stores nothing. Uses `figures`, `traces`, `lab`, `shares`, `lessons` and `collections`.
"""
