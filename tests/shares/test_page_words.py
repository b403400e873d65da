"""The author's texts of a share, from the panel to the reader's page."""

from playwright.sync_api import Route, expect

from tests.browsing.workspace import Workspace

NOTE = "Look at the third row.\n<b>Twice</b>."


def write(workspace: Workspace, **words: str) -> str:
    """Fill in the form, create the link, and return it."""
    expect(workspace.find("#shared-link")).to_be_visible()
    before = workspace.find("#shared-link").input_value()
    if not workspace.find("#telling form").is_visible():
        workspace.find("#telling summary").click()
    for name, text in words.items():
        workspace.find(f"#telling [name={name}]").fill(text)
    workspace.find("#telling button").click()
    expect(workspace.find("#shared-link")).not_to_have_value(before)
    return workspace.find("#shared-link").input_value()


def test_a_reader_gets_the_note_and_asks_for_the_answer(workspace: Workspace) -> None:
    # Sharing twice is one link and its key is still shown.
    workspace.open(source="The cat sits.")
    url = workspace.share()
    key = workspace.find("#edit-key").input_value()
    assert key
    workspace.find("#shared-close").click()
    assert workspace.share() == url
    assert workspace.find("#edit-key").input_value() == key
    # An answer needs a question.
    workspace.find("#telling summary").click()
    workspace.find("#telling [name=answer]").fill("The cat.")
    assert not workspace.find("#telling form").evaluate("(form) => form.checkValidity()")
    workspace.find("#telling [name=question]").fill("Who?")
    assert workspace.find("#telling form").evaluate("(form) => form.checkValidity()")
    # A reader gets the note and asks for the answer.
    url = write(workspace, title="Who sits?", note=NOTE, question="Who?", answer="The cat.")
    workspace.page.goto(url)
    workspace.drawn()
    assert workspace.page.title() == "Who sits? · Headlight"
    assert workspace.find(".about p").first.inner_text() == NOTE
    expect(workspace.find(".about .answer p")).to_be_hidden()
    workspace.find(".about summary").click()
    expect(workspace.find(".about .answer p")).to_have_text("The cat.")


def test_a_second_press_makes_no_second_share(workspace: Workspace) -> None:
    """Whatever shares is pressed twice, or while another shares, before the server replies."""
    workspace.open(source="The cat sits.")
    workspace.settled()
    held: list[Route] = []
    workspace.page.route("**/api/shares", lambda route: held.append(route))

    def reply() -> None:
        assert workspace.link["source"], "frames have passed"
        [one] = held
        held.clear()
        one.continue_()
        expect(workspace.find("#share")).not_to_have_attribute("aria-disabled", "true")

    with workspace.page.expect_request("**/api/shares"):
        workspace.find("#share").dblclick()
    workspace.find("#share").press("Enter")
    workspace.find("#collect-open").dispatch_event("click")
    reply()
    expect(workspace.find("#shared-link")).to_be_visible()
    first = workspace.find("#shared-link").input_value()
    workspace.find("#telling summary").click()
    title = workspace.find("#telling [name=title]")
    title.fill("First")
    with workspace.page.expect_request("**/api/shares"):
        title.press("Enter")
    title.press("Enter")
    for other in ("#telling button", "#share", "#collect-open"):
        workspace.find(other).dispatch_event("click")
    reply()
    expect(workspace.find("#shared-link")).not_to_have_value(first)
    assert not held
