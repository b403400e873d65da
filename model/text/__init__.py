"""Tokenization: text to ids and back, with offsets."""
