"""The pages of no other subject, the files that all pages load, health and metrics.

Stores nothing. Uses `lessons`, `shares`, `rooms`, `runs` and `traces`.
"""
