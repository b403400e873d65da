"""The symbols of every lesson's formulas, and the parts of its figures that they name."""

import pytest

from app.lessons.library import lessons
from tests.browser.legible import overflow
from tests.browser.lesson_reader import Reader

# Of each symbol that has a place: what lights nothing in a figure, or is not lit by what it lights.
WALK = """() => {
  document.querySelectorAll("#lesson .why").forEach((one) => (one.hidden = false));
  const point = (at) => at.dispatchEvent(new PointerEvent("pointerover", {bubbles: true}));
  const lit = () => [...document.querySelectorAll("[data-lit-symbol]")];
  const inside = (one) => one.querySelector("td, canvas, mi, input") ?? one;
  const found = {names: [], wrong: []};
  for (const symbol of document.querySelectorAll("#lesson math [data-part]")) {
    const name = `${symbol.textContent} (${symbol.dataset.part})`;
    point(symbol);
    const shown = (one) => !one.matches("math [data-part]") && one.getClientRects().length > 0;
    const places = lit().filter(shown);
    if (!places.length) found.wrong.push(`${name} lights nothing`);
    if (!lit().includes(symbol)) found.wrong.push(`${name} is not lit itself`);
    for (const place of places) {
      point(document.querySelector("h1"));
      if (lit().length) found.wrong.push(`${name} stays lit`);
      point(inside(place));
      const what = place.outerHTML.slice(0, 60);
      if (!lit().includes(symbol)) found.wrong.push(`${what} does not light ${name}`);
    }
    found.names.push(name);
  }
  return found;
}"""
WITHOUT = {"far-words", "what-a-head-does", "encoder-decoder", "explanation"}  # formulas


@pytest.mark.parametrize("lesson", [one.slug for one in lessons()])
def test_every_symbol_lights_with_what_it_names(reader: Reader, lesson: str) -> None:
    reader.open(f"/learn/{lesson}")
    for number in range(1, 1 + reader.page.locator("figure.live").count()):
        reader.figure(number)
    found = reader.page.evaluate(WALK)
    assert found["wrong"] == []
    assert bool(found["names"]) == (lesson not in WITHOUT)


def test_a_head_has_a_symbol_of_its_own(reader: Reader) -> None:
    reader.open("/learn/many-heads")
    mixed = reader.figure(4).locator('[data-of="mix"]')
    symbols = reader.page.locator('.formula [data-part^="mix"]')
    assert [one.text_content() for one in symbols.all()] == ["z1", "z2", "zh"]
    mixed.locator('[data-head="1"] td').first.hover()
    assert [one.get_attribute("data-lit-symbol") for one in symbols.all()] == [None, "", None]
    symbols.nth(0).hover()
    heads = mixed.locator("[data-head]").all()
    assert [one.get_attribute("data-lit-symbol") for one in heads] == ["", None]


# Formulas that are wider than their column, or are in one that scrolls.
TOO_WIDE = """() => [...document.querySelectorAll("#lesson math")].filter((math) => {
  const column = math.parentElement.closest("p, div, li, td, dd, figcaption");
  if (!math.checkVisibility() || !column.clientWidth) return false;
  const own = column.matches(".formula, .written");
  const wide = math.getBoundingClientRect().width > column.clientWidth + 1;
  return wide || (own && column.scrollWidth > column.clientWidth);
}).map((math) => math.textContent)"""


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("lesson", [one.slug for one in lessons()])
def test_formulas_fit_a_phone(reader: Reader, lesson: str, lang: str) -> None:
    reader.page.set_viewport_size({"width": 390, "height": 844})
    reader.open(f"/learn/{lesson}", lang)
    for figure in reader.page.locator("figure.live[data-page=lab]").all():
        reader.figure(int((figure.get_attribute("id") or "").removeprefix("figure-")))
    assert reader.page.evaluate(TOO_WIDE) == []
    reader.page.set_viewport_size({"width": 320, "height": 640})
    assert overflow(reader.page, 320) == 0  # and drawn again
    assert reader.page.evaluate(TOO_WIDE) == []
