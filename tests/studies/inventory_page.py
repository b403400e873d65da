"""Writes `docs/inventory.md` from `lessons/inventory.toml`: `make inventory`."""

from collections.abc import Iterator

from app.lessons.inventory import FORMS, Inventory, Item, inventory
from tests.servers import ROOT

PAGE = ROOT / "docs" / "inventory.md"
HEAD = """\
# The inventory

What do students understand of attention? {count} questions, each in two parallel forms: A for a \
test before the lessons, B for one after them, or the other way round. Every wrong option is a \
known misunderstanding, which is named behind it; both forms of a question have the same ones. \
The right option is in bold. Use, copy and change them as you like; a [study](study.md) asks \
them on the page and counts the answers, and `/study/inventory` shows them in the reader's \
language.

Edition {edition}. This page is written by `make inventory` from `lessons/inventory.toml`. The \
questions have not been tried with a class yet: how hard they are, and how well they tell those \
who understand from those who do not, is unknown. Whoever is to take the test should not read \
on.

## Misunderstandings

| | English | 中文 | questions |
|---|---|---|---|
{kinds}

## Lessons

The questions that each lesson should move.

| lesson | questions |
|---|---|
{lessons}
"""
TITLES = {
    "en": ("English", "Form {form}", "Why"),
    "zh": ("中文", "{form} 卷", "理由"),
}


def written(asked: Inventory) -> str:
    """Return the page."""
    numbered = list(asked.numbered())
    kinds = []
    for kind, words in asked.misunderstandings.items():
        numbers = [
            str(number)
            for number, item in numbered
            if kind in {option.kind for option in item.A.options}
        ]
        kinds.append(f"| `{kind}` | {words.en} | {words.zh} | {', '.join(numbers)} |")
    slugs = dict.fromkeys(slug for _, item in numbered for slug in item.lessons)
    moved = [
        f"| `/learn/{slug}` | {', '.join(str(number) for number, _ in asked.moved_by(slug))} |"
        for slug in slugs
    ]
    head = HEAD.format(
        count=len(numbered),
        edition=asked.edition,
        kinds="\n".join(kinds),
        lessons="\n".join(moved),
    )
    parts = [head]
    for lang in TITLES:
        parts.append(f"## {TITLES[lang][0]}\n")
        for number, item in numbered:
            parts += question(number, item, lang)
    return "\n".join(parts)


def question(number: int, item: Item, lang: str) -> Iterator[str]:
    """Yield the lines of an item in a language."""
    _, title, why = TITLES[lang]
    yield f"### {number}. {item.about.text(lang)}\n"
    for form in FORMS:
        asked = item.question(form)
        yield f"*{title.format(form=form)}.* {asked.asks.text(lang)}\n"
        for letter, option in zip("abcdef", asked.options, strict=False):
            text = option.text(lang)
            yield (
                f"- {letter}. **{text}**" if option.right else f"- {letter}. {text} `{option.kind}`"
            )
        yield ""
    yield f"*{why}.* {item.why.text(lang)}\n"


if __name__ == "__main__":
    PAGE.write_text(written(inventory()), encoding="utf-8")
