"""What heads do over many sentences: surveys, examples, searches, and readers' own texts.

Stores indexes of readers' texts in the data folder, until they expire. Uses no other subject.
"""
