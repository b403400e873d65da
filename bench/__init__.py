"""What seeing inside costs: pairs of ways to do one thing, measured side by side."""
