"""Assignments: questions with a link, answered in one's own time.

Stores assignments and answers in the database. Uses `rooms`, whose questions they ask, `lessons`,
`figures`, whose goals its works are checked for, and `shares`.
"""
