"""Offline measurements of a trained model; the server imports none of them."""
