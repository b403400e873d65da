"""Training runs of `/train`: their processes, their queue and their events."""
