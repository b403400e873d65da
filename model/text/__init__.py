"""Text to ids and back, with offsets."""
