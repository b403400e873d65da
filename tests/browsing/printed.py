"""Numbers as the page prints them, and back."""

import re

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
SMALL = {"<0.01": 0.0025, ">−0.01": -0.0025}
NUMBER = re.compile(r"[−-]?\d+(?:\.\d+)?(?: · 10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻]+)?")


def two(value: float) -> str:
    """Format a number with two decimals, as the page does."""
    if value and abs(value) < 0.005:
        return "<0.01" if value > 0 else ">−0.01"
    return f"{value:.2f}".replace("-", "−") if value else "0"


def read(text: str) -> float:
    """Parse a number: 0.1234, −8.7621 or 3.1 · 10⁻⁷; <0.01 is read as 0.005."""
    if text in SMALL:
        return SMALL[text]
    digits, _, power = text.replace("−", "-").partition(" · 10")
    return float(digits) * 10.0 ** int(power.translate(SUPERSCRIPTS) or 0)


def numbers(text: str) -> list[float]:
    """Return all numbers in a text, in order."""
    return [read(found) for found in NUMBER.findall(text)]
