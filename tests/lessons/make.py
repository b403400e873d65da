"""Write what lessons quote from models, and say what they claim that is no longer so.

``python -m tests.lessons.make`` (``make lessons``) computes lessons/numbers.toml and prints each
question whose answer is not the one that its lesson expects. It exits with 1 if there is one.
"""

import sys
from functools import cache

from app.lessons.course import NUMBERS, numbers
from app.lessons.markdown import Predict
from tests.lessons.answers import answer
from tests.lessons.conftest import Models, opened
from tests.lessons.facts import FACTS
from tests.lessons.reading import PAGES

HEADER = "# What lessons quote from models. Written by `make lessons`; do not edit.\n"


def computed(models: Models) -> str:
    """Return the file's text."""
    tables = [
        f"\n[{slug}]\n" + "".join(f'{name} = "{value}"\n' for name, value in facts(models).items())
        for slug, facts in FACTS.items()
    ]
    return HEADER + "".join(tables)


def surprises(models: Models) -> list[str]:
    """Return a line for each question whose answer is not the expected one."""
    found = []
    for lesson, lang in PAGES:
        for part in lesson.document(lang).parts:
            if not isinstance(part, Predict) or not part.block.expects:
                continue
            now, then = answer(part.block, models), part.block.expects
            if now != then:
                place = f"{lesson.slug}/{lang}.md, question {part.block.number}"
                found.append(f"{place}: expects {then}, but the answer is {now}")
    return found


def main() -> None:
    models = cache(opened)
    NUMBERS.write_text(computed(models), encoding="utf-8")
    numbers.cache_clear()
    found = surprises(models)
    print("\n".join(found) or "Every question has the expected answer.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
