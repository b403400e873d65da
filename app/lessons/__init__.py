"""Lessons: Markdown files with live figures and questions, one per language.

Stores nothing. Uses `figures`.
"""
