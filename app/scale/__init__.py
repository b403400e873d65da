"""Models in a Ray cluster of several machines. Imported only if a cluster is configured."""
