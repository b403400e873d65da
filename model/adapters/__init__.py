"""From a request to a trace, for any model."""
