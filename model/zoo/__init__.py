"""Small models of made-up tasks, on which attention can be read off: `model/zoo/zoo.toml`."""
