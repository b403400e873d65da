"""Indexes of readers' texts for the pages about heads."""
