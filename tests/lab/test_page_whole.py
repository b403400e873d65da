"""The lab as a page: access, figures beside each other, the way in, the projector."""

from playwright.sync_api import expect

from tests.browsing.axe import in_both_themes
from tests.browsing.legible import overflow
from tests.lab.by_hand import OWN, Lab

FIGURES = """async ([modules, answer]) => {
    const load = (name) => import(`${modules}${name}`);
    const { createLabFigure } = await load("lab/figure/lab-figure.js");
    const { createPageContext } = await load("core/page/page-context.js");
    const { preset } = await load("lab/lab-link.js");
    const live = document.createElement("p");
    const page = createPageContext(window, { live });
    const compute = async (body) => {
        const headers = { "Content-Type": "application/json" };
        const asked = { method: "POST", headers, body: JSON.stringify(body) };
        return (await fetch("/api/lab", asked)).json();
    };
    document.body.replaceChildren(live);
    const figures = ["identity", "note"].map((name) => {
        const root = document.createElement("section");
        document.body.append(root);
        const choices = name === "note";
        return createLabFigure({ root, page, lab: preset(name), compute, choices });
    });
    window.figures = figures;
}"""


def test_several_figures_stand_on_one_page(lab: Lab) -> None:
    lab.open()
    script = lab.page.locator("script[type=module]").get_attribute("src") or ""
    modules = script.split("/page/")[0] + "/js/"
    lab.page.evaluate(FIGURES, [modules, None])
    first, second = lab.page.locator("section.here, body > section").all()
    expect(first.locator(".lab-choices")).to_have_count(0)
    expect(second.locator("[data-of=weights] td[data-at]").first).to_have_text("0.4223")
    expect(first.locator("[data-of=weights] td[data-at]").first).to_have_text(f"{OWN:.4f}")
    second.get_by_text("columns, W x").click()
    expect(second.get_by_label("columns, W x")).to_be_checked()
    first.locator("[data-of=x] input[data-at='0,0']").fill("a")
    expect(first.locator(".cell-note:popover-open")).to_contain_text("Not a number.")
    expect(second.locator(".cell-note:popover-open")).to_have_count(0)
    ids = lab.page.locator("[id]").evaluate_all("all => all.map(({id}) => id)")
    assert len(ids) == len(set(ids))
    lab.page.evaluate("window.figures[0].destroy()")
    expect(first.locator("*")).to_have_count(0)
    expect(second.locator(".worked li").first).to_be_visible()


def test_the_workspace_leads_here_and_it_is_accessible(lab: Lab) -> None:
    lab.page.goto(lab.url)
    lab.page.get_by_role("link", name="By hand", exact=True).click()
    expect(lab.page.locator(".worked li").first).to_be_visible()
    lab.open("?lang=zh")
    expect(lab.page.get_by_role("heading", name="手算注意力")).to_be_visible()
    lab.page.get_by_label("示例").select_option("loss")
    expect(lab.step("损失")).to_be_visible()
    for width in (1440, 390):
        lab.page.set_viewport_size({"width": width, "height": 844})
        assert not overflow(lab.page, width)
        assert in_both_themes(lab.page) == []


def test_a_projector_shows_the_matrices_and_the_steps_alone(lab: Lab) -> None:
    page = lab.page
    page.set_viewport_size({"width": 1280, "height": 720})
    lab.open("?projector=1")
    root = page.locator(":root")
    expect(root).to_have_attribute("data-projector", "")
    for hidden in (".top", ".heading", ".lab-choices"):
        expect(page.locator(hidden)).to_be_hidden()
    expect(page.locator("#projector-more")).to_be_visible()
    size = "parseFloat(getComputedStyle(document.querySelector('.number-table td')).fontSize)"
    assert page.evaluate(size) >= 18
    assert not overflow(page, 1280)
    lab.cell("x", 0, 0).fill("2")
    expect(root).to_have_attribute("data-projector", "")
    assert lab.link["projector"] == ["1"]
    page.keyboard.press("Escape")
    expect(page.locator(".top")).to_be_visible()
    assert "projector" not in lab.link
    lab.cell("x", 0, 0).press("p")
    expect(page.locator(".top")).to_be_visible()
    page.locator("h1:visible").click()
    page.keyboard.press("p")
    expect(page.locator(".top")).to_be_hidden()
    page.locator("#projector-leave").click()
    expect(page.locator(".top")).to_be_visible()
