"""Training runs that are watched: their processes, their queue and what they have told."""
