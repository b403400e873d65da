"""More than one machine: models in a Ray cluster. Imported only where a cluster is named."""
