"""The colour scale of attention, the same as on the page (static/js/core/draw/scale.js).

A straight line through OKLab (Björn Ottosson, "A perceptual color space for image processing",
2020) from the background to violet, with more chroma half-way; a value lies on it at its power
``LIFT``, so that small ones are seen. It is cut into stops that are interpolated in sRGB.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

PAPER, VIOLET = "#fbfaf7", "#4c1d95"
STEPS = 16
LIFT = 0.65
BLOOM = 0.045  # chroma added half-way, in the hue of the violet, so that the middle is not grey

Floats = NDArray[np.float64]

TO_CONES = np.array(
    [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
)
TO_LAB = np.array(
    [
        [0.2104542553, 0.793617785, -0.0040720468],
        [1.9779984951, -2.428592205, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.808675766],
    ]
)


def rgb(hex_: str) -> tuple[int, int, int]:
    """Return the channels of ``#rrggbb``, 0–255."""
    red, green, blue = bytes.fromhex(hex_.removeprefix("#"))
    return red, green, blue


def colours(values: Floats) -> NDArray[np.uint8]:
    """Return the colours (…, 3) of values (…) from 0 to 1; values outside are clamped."""
    stops = _stops()
    place = np.clip(values, 0, 1) * STEPS
    low = np.minimum(place.astype(int), STEPS - 1)
    share = (place - low)[..., None]
    mixed = stops[low] + (stops[low + 1] - stops[low]) * share
    shades: NDArray[np.uint8] = np.floor(mixed + 0.5).astype(np.uint8)  # rounds like JavaScript
    return shades


def luminance(colour: tuple[int, int, int]) -> float:
    """Return the relative luminance, 0 to 1 (WCAG 2)."""
    return float(_linear(np.array(colour, dtype=float)) @ np.array([0.2126, 0.7152, 0.0722]))


@cache
def _stops() -> Floats:
    paper, violet = (
        TO_LAB @ np.cbrt(TO_CONES @ _linear(np.array(rgb(colour), dtype=float)))
        for colour in (PAPER, VIOLET)
    )
    at = np.linspace(0, 1, STEPS + 1)[:, None] ** LIFT
    line = paper + (violet - paper) * at
    hue = violet[1:] / np.hypot(*violet[1:])
    line[:, 1:] += hue * BLOOM * np.sin(np.pi * at)
    light = (line @ np.linalg.inv(TO_LAB).T) ** 3 @ np.linalg.inv(TO_CONES).T
    return _coded(light)


def _linear(channels: Floats) -> Floats:
    """Convert sRGB 0–255 to linear light 0–1."""
    c = channels / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def _coded(light: Floats) -> Floats:
    """Convert linear light to sRGB, integers from 0 to 255."""
    light = np.clip(light, 0, 1)
    coded = np.where(light <= 0.0031308, 12.92 * light, 1.055 * light ** (1 / 2.4) - 0.055)
    return np.floor(np.clip(coded, 0, 1) * 255 + 0.5)
