"""A change of the page draws each picture of the view at most once."""

from tests.browsing.workspace import Workspace

START = {
    "source": "The dog is tired, so it sleeps.",
    "target": "这只狗很累。",
    "layer": 1,
    "head": 2,
}
# Every drawing sets the attribute, also to the value that it has.
COUNT = """() => {
    const drawn = new Map();
    const counter = new MutationObserver((records) => {
        for (const { target } of records) drawn.set(target, (drawn.get(target) ?? 0) + 1);
    });
    window.counter?.disconnect();
    window.counter = counter;
    const view = document.querySelector("#view");
    counter.observe(view, { attributeFilter: ["data-drawn"], subtree: true });
    window.drawings = () => {
        const counts = [...drawn.values()];
        drawn.clear();
        return counts;
    };
}"""
# The number of pictures drawn for another head, and for another pinned row, which most only light.
VIEWS = {
    "attention": (1, 0),
    "qkv": (3, 0),
    "inside": (3, 0),
    "compare": (3, 0),
    "worksheet": (1, 1),
}


def test_a_click_draws_each_picture_once(workspace: Workspace) -> None:
    for view, (of_head, of_row) in VIEWS.items():
        workspace.open(**START, view=view, block="encoder")
        workspace.settled()
        workspace.page.evaluate(COUNT)
        workspace.find("#heads label").nth(5).click()
        workspace.settled()
        assert workspace.page.evaluate("drawings()") == [1] * of_head, view
        workspace.find("#source-tokens .chip").nth(4).click()
        workspace.settled()
        assert workspace.page.evaluate("drawings()") == [1] * of_row, view
