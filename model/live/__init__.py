"""A training run that is watched while it goes: what can be chosen, and what it tells."""
