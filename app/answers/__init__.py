"""What the routes answer with, without HTTP."""
