"""Requests to a model and their results: what is asked, checked, bound and returned."""
