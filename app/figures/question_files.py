"""Questions to a class as what a file of questions has: in words, in the language of a reader."""

from collections.abc import Mapping, Sequence

from app.assets.qti import QtiQuestion
from app.figures.links import Asked, Entry

WITHIN = 0.005  # how far a number may be off where the question does not say it


def qti_question(
    entry: Entry,
    about: Asked,
    lang: str,
    *,
    words: str = "",
    choices: Mapping[str, str] | None = None,
    right: Sequence[str] = (),
    numbers: Sequence[float] = (),
    within: float = WITHIN,
) -> QtiQuestion:
    """Return a question with what is right.

    `words` and `choices` are those of a question that its author did not write. One whose choices
    are not known, and one that is answered by drawing a row, is answered in words.
    """
    translation = (about.translations or {}).get("zh" if lang == "zh" else "en")
    worded = translation.words if translation else about.words or words
    listed = list((choices or {}).items())
    if about.options:
        translated = translation.options if translation else []
        words_of = [*translated, *(option.text for option in about.options[len(translated) :])]
        listed = [(str(n), text) for n, text in enumerate(words_of)]
    if entry == "cell" and about.axes:
        rows, columns = about.axes.rows, about.axes.columns
        return QtiQuestion("cell", worded, right=right, rows=rows, columns=columns)
    if entry in ("choice", "order") and len(listed) > 1:
        numbered = {choice: str(n) for n, (choice, _) in enumerate(listed)}
        texts = [(str(n), text) for n, (_, text) in enumerate(listed)]
        chosen = [numbered[choice] for choice in right if choice in numbered]
        return QtiQuestion("choice" if entry == "choice" else "order", worded, texts, chosen)
    if entry == "numbers":
        return QtiQuestion("numbers", worded, listed, numbers=numbers, within=within)
    return QtiQuestion("text", worded)
