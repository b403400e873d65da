"""Running the models in batches, and encoding their replies."""
