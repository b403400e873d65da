"""Pages of lessons: what a server lacks is said in its place, and the shorter way is linked."""

import re

import httpx

LACKING = "which this server does not have"


def test_a_figure_of_a_model_that_is_not_served_is_a_sentence(reader: httpx.Client) -> None:
    page = reader.get("/learn/many-heads?lang=en").text
    (figure,) = re.findall(r'<p id="figure-(\d)" class="not-served">(.*?)</p>', page)
    assert figure == ("4", f"The figure in this place is of the model en-zh-4-heads, {LACKING}.")
    assert page.count('<div id="question-5" class="not-served">') == 1
    assert 'data-link="model=en-zh-4-heads' not in page
    assert [int(n) for n in re.findall(r'<figure id="figure-(\d)"', page)] == [1, 2, 3]
    for lesson in ("query-key-value", "block", "ten-minutes"):
        assert LACKING not in reader.get(f"/learn/{lesson}?lang=en").text, lesson


def test_the_shorter_way_is_linked_and_leads_to_the_first_lesson(reader: httpx.Client) -> None:
    assert (
        '<a href="/learn/ten-minutes?lang=zh">十分钟看懂注意力</a>'
        in reader.get("/learn?lang=zh").text
    )
    page = reader.get("/learn/ten-minutes?lang=en").text
    assert "For the hurried · 10 minutes" in page
    assert re.search(
        r'rel="next" href="/learn/text-to-vectors\?lang=en"><span>The first lesson', page
    )
    assert 'rel="prev"' not in page
