"""The routes: one file per subject, without logic."""
