"""The progress of a long text's run, which can be stopped."""

from typing import Any

from playwright.sync_api import Page, expect

from tests.browsing.workspace import Workspace
from tests.long_texts.reading import SHARP, TEXT

# Runs of long texts wait until `go` is called, and say what a test lets them say.
HELD = """() => {
    const fetched = window.fetch;
    window.runs = [];
    window.fetch = async (url, init = {}) => {
        const isRun = String(url).endsWith("/api/overview") && !init.body.includes('"select":[]');
        if (!isRun) return fetched(url, init);
        const run = { stopped: false };
        window.runs.push(run);
        init.signal.addEventListener("abort", () => (run.stopped = true));
        const body = new ReadableStream({
            start(controller) {
                const utf8 = new TextEncoder();
                init.signal.addEventListener("abort", () => controller.error(init.signal.reason));
                run.say = (line) => controller.enqueue(utf8.encode(JSON.stringify(line) + "\\n"));
                run.go = async () => {
                    const reply = await fetched(url, init);
                    controller.enqueue(new Uint8Array(await reply.arrayBuffer()));
                    controller.close();
                };
            },
        });
        return new Response(body);
    };
}"""
BOX = ".pass-box"


def held(there: Workspace) -> Page:
    """A page with a drawn sentence, whose long texts wait."""
    there.page.add_init_script(f"({HELD})()")
    there.load(source="The cat sat.", view="attention", layer=0, head=0)
    there.drawn()
    there.page.locator("#source").fill(TEXT)
    there.page.wait_for_function("() => window.runs.length === 1")
    return there.page


def say(page: Page, **progress: Any) -> None:
    page.evaluate("(progress) => window.runs.at(-1).say({ progress })", progress)


def stopped(page: Page) -> list[bool]:
    found: list[bool] = page.evaluate("window.runs.map(({ stopped }) => stopped)")
    return found


def test_a_run_says_how_far_it_is_and_how_long_it_takes(there: Workspace) -> None:
    page = held(there)
    box = page.locator(BOX)
    say(page, phase="queue", done=0, of=0, seconds=0.5)
    for _ in range(3):  # frames, in which it has been read
        page.evaluate("() => new Promise(requestAnimationFrame)")
    expect(box).to_be_hidden()
    say(page, phase="queue", done=0, of=0, seconds=2)
    expect(box).to_contain_text("Waiting for other requests")
    say(page, phase="pass", done=0, of=30, seconds=3)
    expect(page.locator("#announce")).to_contain_text("Reading the text")
    say(page, phase="pass", done=15, of=30, seconds=13)
    expect(box).to_contain_text("Reading the text: 15 of 30 layers · about 20 s left")
    assert page.locator(f"{BOX} progress").evaluate("(meter) => meter.value") == 1 / 3
    assert page.locator("html").get_attribute("data-status") == "waiting"
    say(page, phase="pictures", done=20, of=30, seconds=20)
    expect(box).to_contain_text("Drawing the heads: 20 of 30 layers")
    page.evaluate("window.runs[0].go()")
    page.wait_for_selector(SHARP)
    expect(box).to_be_hidden()


def test_a_run_is_stopped_by_typing_on_and_by_its_button(there: Workspace) -> None:
    page = held(there)
    say(page, phase="pass", done=1, of=30, seconds=3)
    expect(page.locator(BOX)).to_be_visible()
    page.locator("#source").fill("The dog sat.")
    there.drawn()
    assert stopped(page) == [True]
    expect(page.locator(BOX)).to_be_hidden()
    page.locator("#source").fill(TEXT)
    page.wait_for_function("() => window.runs.length === 2")
    say(page, phase="pass", done=1, of=30, seconds=3)
    page.locator(BOX).get_by_role("button", name="Stop").click()
    expect(page.locator(BOX)).to_be_hidden()
    assert stopped(page) == [True, True]
    expect(page.locator("#problem")).to_contain_text("The run was stopped")
    expect(page.locator("#view .matrix")).to_be_visible()
    assert page.locator("#source").input_value() == TEXT
    assert page.locator("#source").get_attribute("aria-invalid") == "false"
    page.locator("#retry").click()
    page.wait_for_function("() => window.runs.length === 3")
    page.evaluate("window.runs[2].go()")
    page.wait_for_selector(SHARP)
    expect(page.locator("#problem")).to_be_hidden()
