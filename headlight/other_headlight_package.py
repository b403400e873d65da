"""Warns if another distribution has the same import: this one is `headlight-attention`."""

import warnings
from importlib.metadata import PackageNotFoundError, distribution

DISTRIBUTION, NAMESAKE = "headlight-attention", "headlight"


def namesake_warning() -> str | None:
    """Return what is wrong if a distribution called `headlight` is installed; None if none is."""
    try:
        other = distribution(NAMESAKE)
    except PackageNotFoundError:
        return None
    return (
        f"the distribution {NAMESAKE} {other.version} is installed: it is another project, and its "
        f"files lie in the same folder as those of {DISTRIBUTION}. Run `pip uninstall {NAMESAKE} "
        f"{DISTRIBUTION}`, then `pip install {DISTRIBUTION}`"
    )


def warn_of_namesake() -> None:
    """Warn, as Python warns, if it is there."""
    if message := namesake_warning():
        warnings.warn(message, stacklevel=3)
