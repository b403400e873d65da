"""Sentences about given arrays that are drawn in their figure, in the figure's language.

What cannot be right is refused with an exception. What may be right, with doubt, is a notice: it
stays in the saved file, and is a Python warning as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from app.assets.languages import messages


class AttentionWarning(UserWarning):
    """The arrays may be right, but something about them should be checked."""


@dataclass(frozen=True)
class Notice:
    """A sentence with values for the names in braces; `doubt`: something should be checked."""

    template: str
    values: Mapping[str, str | int] = field(default_factory=dict)
    doubt: bool = False

    def text(self, lang: str = "en") -> str:
        """Return the sentence in a language of the catalogs; English if it has no translation."""
        translated = messages(lang).get(self.template)
        template = translated if isinstance(translated, str) else self.template
        return template.format(**self.values)

    def __str__(self) -> str:
        return self.text()


def t(template: str, **values: str | int) -> Notice:
    """Return a notice of how something was read. Catalogs have the templates in `t("…")`."""
    return Notice(template, values)


def doubtful(notice: Notice) -> Notice:
    """Return the notice as one of something to check."""
    return Notice(notice.template, notice.values, doubt=True)


def shape_text(shape: Iterable[int]) -> str:
    """Return a shape as NumPy prints it."""
    return str(tuple(int(size) for size in shape))
