"""Collections: lists of links with notes, as a page and a handout; and what a link shows.

Stores collections in the database. Uses `figures`, `lessons`, `shares`, `handouts`, `lab` (the
longest link) and `runs` (whether there are any).
"""
