"""Collections: lists of links with notes, as a page and a handout; and what a link shows.

Stores collections in the database. Uses `figures`, `lessons`, `shares`, `handouts`, `lab` (the
longest link), `runs` (whether there are any) and `challenges`, which are prepared for a class.
"""
