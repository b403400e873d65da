"""Small models of synthetic tasks in which the right attention is known: `model/zoo/zoo.toml`."""
