"""What the server answers: one file a subject, no logic in any."""
