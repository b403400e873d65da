"""Numbers as the page prints them, and back."""

import re

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
NUMBER = re.compile(r"[−-]?\d+(?:\.\d+)?(?: · 10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?")


def read(text: str) -> float:
    """The number that a text is: 0.1234, −8.7621 or 3.1 · 10⁻⁷."""
    digits, _, power = text.replace("−", "-").partition(" · 10")
    return float(digits) * 10.0 ** int(power.translate(SUPERSCRIPTS) or 0)


def numbers(text: str) -> list[float]:
    """All numbers that are printed in a text, in order."""
    return [read(found) for found in NUMBER.findall(text)]
