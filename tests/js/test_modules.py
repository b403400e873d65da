"""The browser is told of every module before it asks for the first."""

from app.assets.files import modules
from tests.servers import ROOT

JS = ROOT / "static/js"


def test_modules_are_all_that_the_page_needs() -> None:
    found = modules("pages/workspace.js")
    some = {"data/api.js", "views/index.js", "views/attention/view.js", "chrome/stage.js"}
    assert some <= set(found)
    assert "pages/workspace.js" not in found
    assert all((JS / name).is_file() for name in found)


def test_module_that_is_not_there_needs_nothing() -> None:
    assert modules("no-such.js") == []
