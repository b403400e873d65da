"""Content negotiation (RFC 9110, section 12)."""

from collections.abc import Sequence

JSON = "application/json"
SAFETENSORS = "application/octet-stream"
NPZ = "application/x-npz"
FORMS = (JSON, SAFETENSORS, NPZ)  # of replies with tensors


def preferences(header: str) -> list[str]:
    """Return the entries of an ``Accept…`` header, best first, without those of quality 0."""
    weighed = []
    for entry in header.split(","):
        name, *parameters = (part.strip() for part in entry.split(";"))
        quality = 1.0
        for parameter in parameters:
            if parameter.lower().startswith("q="):
                quality = _quality(parameter[2:])
        if name and quality > 0:
            weighed.append((quality, name.lower()))
    return [name for _, name in sorted(weighed, key=lambda entry: -entry[0])]


def choose(header: str | None, offered: Sequence[str]) -> str | None:
    """Return the offered media type that the client prefers; None if it accepts none.

    Without a header, and for a wildcard, this is the first one offered.
    """
    for name in preferences(header) if header else ["*/*"]:
        family = name.removesuffix("*")
        for media_type in offered:
            if name in ("*/*", media_type) or (
                name.endswith("/*") and media_type.startswith(family)
            ):
                return media_type
    return None


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
