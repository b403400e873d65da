"""More than one machine: models in a Ray cluster. Imported only if a cluster is configured."""
