"""A lesson with a class: ``python -m tests.browser.class_walk FOLDER [pupils [lesson …]]``.

A teacher presents lessons, 4 to 6 by default, from a projector to a room of real browsers (laptop,
phone, a Chinese one) and of pupils without one (``pupils.py``), as a teacher would: scene by
scene with the keys of a remote, asking each scene's question, letting the class discuss and vote
again, revealing, showing a sentence of a student. ``FOLDER`` gets one picture per step with all
screens side by side, and the answers as CSV, which are compared with what the pupils were told was
accepted.
"""

import csv
import io
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, ConsoleMessage, Page, sync_playwright
from playwright.sync_api import TimeoutError as TooLate

from tests.browser.chromium import ARGS, EXECUTABLE
from tests.browser.classroom import from_menu
from tests.browser.pupils import Pupils
from tests.servers import running_app

LESSONS = ("scores", "many-heads", "order")
SCREENS = {
    "teacher": (1280, 720),
    "laptop": (1280, 800),
    "phone": (390, 844),
    "chinese": (1280, 800),
}
CELL = "/?source=The+cat+sleeps.&view=attention&block=cross&layer=2&head=0&query=1"
HEIGHT, GAP = 720, 8  # of a picture, and between screens
VOTING_MS = 6_000
SETTLED_MS = 900


class Walk:
    """The screens of a class and the pictures of them."""

    def __init__(self, browser: Browser, url: str, folder: Path, lessons: Sequence[str]) -> None:
        self.first = lessons[0]
        self.url = url
        self.folder = folder
        self.errors: list[str] = []
        self.pages = {name: self._page(browser, name) for name in SCREENS}
        self.teacher = self.pages["teacher"]
        self.students = [page for name, page in self.pages.items() if name != "teacher"]
        self.taken = 0
        self.asked = 0
        self.code = ""

    def _page(self, browser: Browser, name: str) -> Page:
        width, height = SCREENS[name]
        context = browser.new_context(
            viewport={"width": width, "height": height},
            locale="zh-CN" if name == "chinese" else "en-GB",
            has_touch=name == "phone",
            accept_downloads=True,
        )
        page = context.new_page()
        page.set_default_timeout(30_000)

        def heard(said: ConsoleMessage) -> None:
            if said.type == "error":
                self._note(name, said.text)

        page.on("console", heard)
        page.on("pageerror", lambda error: self._note(name, str(error)))
        return page

    def _note(self, name: str, text: str) -> None:
        self.errors.append(f"{name}: {text}")
        print(f"  ! {name}: {text}")

    def picture(self, what: str) -> None:
        """Save all screens: the teacher's and the phone, the other two smaller beside them."""
        self.teacher.wait_for_timeout(SETTLED_MS)
        half = (HEIGHT - GAP) // 2
        teacher, phone = self._shot("teacher", HEIGHT), self._shot("phone", HEIGHT)
        others = [self._shot("laptop", half), self._shot("chinese", half)]
        right = teacher.width + phone.width + 2 * GAP
        whole = Image.new("RGB", (right + max(one.width for one in others), HEIGHT), "#888")
        whole.paste(teacher, (0, 0))
        whole.paste(phone, (teacher.width + GAP, 0))
        for n, one in enumerate(others):
            whole.paste(one, (right, n * (half + GAP)))
        self.taken += 1
        whole.save(self.folder / f"{self.taken:02}-{what}.png")
        print(f"{time.strftime('%X')} {self.taken:02} {what}", flush=True)

    def _shot(self, name: str, height: int) -> Image.Image:
        image = Image.open(io.BytesIO(self.pages[name].screenshot())).convert("RGB")
        size = (round(image.width * height / image.height), height)
        return image.resize(size, Image.Resampling.LANCZOS)

    def open_room(self) -> str:
        """Open the lesson, present it, and let everyone in."""
        self.teacher.goto(f"{self.url}/learn?lang=en")
        self.picture("lessons")
        self.teacher.goto(f"{self.url}/learn/{self.first}?lang=en")
        self.teacher.click("[data-present]")
        code = (self.teacher.locator(".room-code .code").text_content() or "").replace(" ", "")
        self.picture("code")
        self.code = code.lower()
        return self.code

    def join(self, code: str) -> None:
        """Let the browsers in: one types the code, the others scan it."""
        laptop, phone, chinese = self.students
        laptop.goto(f"{self.url}/room?lang=en")
        laptop.fill("#code", code)
        laptop.keyboard.press("Enter")
        phone.goto(f"{self.url}/room/{code}")
        chinese.goto(f"{self.url}/room/{code}")
        for page in self.students:
            page.locator(".room-bar .says").wait_for()
        self.picture("joined")
        self.teacher.click(".room-code .button")
        self.teacher.keyboard.press("p")
        self.picture("projector")

    def lesson(self, slug: str) -> None:
        """Go through the stops of a lesson, and ask each question of it."""
        if f"/learn/{slug}" not in self.teacher.url:
            self.teacher.goto(f"{self.url}/learn/{slug}?lang=en&projector=1")
            self.picture(f"{slug}-begins")
        seen = ""
        for _ in range(60):
            before = self.teacher.evaluate("scrollY")
            self.teacher.keyboard.press("PageDown")
            self.teacher.wait_for_timeout(700)
            # The remote goes on to the next lesson.
            if f"/learn/{slug}" not in self.teacher.url:
                break
            if self.teacher.evaluate("scrollY") == before:
                break
            scene = self.settled_scene()
            if scene and scene != seen:
                seen = scene
                self.picture(f"{slug}-{scene}")
                if scene.startswith("question"):
                    self.ask(slug)

    def settled_scene(self) -> str:
        """Return the scene that is presented once it no longer changes."""
        before, now = "", self.scene()
        while now != before:
            self.teacher.wait_for_timeout(SETTLED_MS)
            before, now = now, self.scene()
        return now

    def scene(self) -> str:
        """Return the id of the scene that is presented."""
        link = self.teacher.evaluate(
            "code => fetch(`/api/rooms/${code}/state`).then((r) => r.json()).then((r) => r.link)",
            self.code,
        )
        return str(link).partition("#")[2].partition("?")[0]

    def ask(self, name: str, kind: str | None = None) -> None:
        """Ask what is on the screen, in two votes, and reveal it."""
        bar = self.teacher.locator(".room-bar")
        lesson = "/learn/" in self.teacher.url
        button = bar.get_by_text("Ask this question" if lesson else "Ask…")
        try:
            button.click(timeout=10_000)
        except TooLate:
            self._note("teacher", "cannot ask here")
            return
        self.picture(f"{name}-ask")
        kinds = self.teacher.locator(".room-kinds .button")
        if kinds.count() and kinds.first.is_visible():
            (kinds.filter(has_text=kind) if kind else kinds).first.click()
        self.teacher.locator(".room-question").wait_for()
        self.asked += 1
        self.answers(0)
        self.picture(f"{name}-asked")
        self.teacher.wait_for_timeout(VOTING_MS)
        self.teacher.click("text=Discuss, then vote again")
        self.picture(f"{name}-discuss")
        self.teacher.click("text=Vote again")
        self.answers(1)
        self.teacher.wait_for_timeout(VOTING_MS)
        self.picture(f"{name}-second")
        self.teacher.click(".room-actions >> text=Reveal")
        self.teacher.wait_for_timeout(1_500)
        self.picture(f"{name}-revealed")
        self.teacher.click("text=End the question")
        self.picture(f"{name}-ended")

    def answers(self, choice: int) -> None:
        """Let the students with browsers answer; the phone does not in the second vote."""
        for i, page in enumerate(self.students[: 3 - choice]):
            try:
                self._answer(page, choice + i)
            except TooLate as late:
                self._note(f"student {i}", f"could not answer: {late.message.splitlines()[0]}")

    def _answer(self, page: Page, choice: int) -> None:
        panel = page.locator(".room-question")
        panel.locator(".choose, .fill input, .draw-share input").first.wait_for()
        choices = panel.locator(".choose")
        if count := choices.count():
            choices.nth(choice % count).click()
        for field in panel.locator(".fill input").all():
            field.fill(["0.5", "0"][choice % 2])
        for n, field in enumerate(panel.locator(".draw-share input").all()):
            field.fill(str(0.1 * (n + choice)))
        panel.locator(".room-actions .strong").click()

    def sentences(self) -> None:
        """Ask for sentences, and show one."""
        for page in self.students:
            page.locator(".room-bar .says").wait_for()
        self.teacher.click(".room-bar >> text=Ask…")
        self.teacher.click(".room-kinds >> text=Sentences of the class")
        self.students[0].fill(".room-question textarea", "The dog that bit the man ran away.")
        self.students[0].click(".room-actions .strong")
        self.picture("sentences-sent")
        mine = self.teacher.locator(".sentences li", has_text="ran away")
        mine.wait_for()
        self.picture("sentences-listed")
        mine.get_by_text("Show to everyone").click()
        self.students[1].locator("#source, #sentence-line").first.wait_for(state="attached")
        self.picture("sentences-shown")

    def end(self) -> list[dict[str, str]]:
        """End the room, with the answers saved; return them."""
        from_menu(self.teacher, "End…")
        self.picture("end")
        with self.teacher.expect_download() as download:
            self.teacher.click(".room-bar >> text=Download the answers")
        table = Path(download.value.path()).read_text("utf-8-sig")
        (self.folder / "answers.csv").write_text(table)
        self.teacher.click(".room-bar >> text=End it")
        self.picture("over")
        return list(csv.DictReader(io.StringIO(table)))


def main(folder: Path, number: int, lessons: Sequence[str]) -> int:
    """Walk, and return 1 if something went wrong."""
    folder.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as data,
        running_app(Path(data)) as server,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=EXECUTABLE, args=ARGS)
        walk = Walk(browser, server.url, folder, lessons)
        code = walk.open_room()
        pupils = Pupils(server.url, code, number)
        pupils.begin()
        walk.join(code)
        for slug in lessons:
            walk.lesson(slug)
        walk.teacher.goto(f"{server.url}{CELL}&lang=en&projector=1")
        walk.picture("workspace")
        walk.ask("workspace")
        walk.sentences()
        rows = walk.end()
        pupils.join()
        browser.close()
    told = pupils.acknowledged()
    kept = Counter((int(row["question"]), row["vote"], row["answer"]) for row in rows)
    lost = told - kept
    print(
        f"{walk.asked} questions, {sum(kept.values())} answers, {sum(told.values())} of the pupils"
    )
    print(f"joins: {sum(p.joins for p in pupils.all)}, states: {sum(p.states for p in pupils.all)}")
    wrong = [*walk.errors, *pupils.complaints(), *(f"lost: {one}" for one in lost)]
    print("\n".join(wrong) or "nothing went wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    _, to, *told = sys.argv
    sys.exit(main(Path(to), int(told[0]) if told else 27, told[1:] or LESSONS))
