"""A server of tiny random models of `transformers`."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from tests.browsing.fixtures import PATIENCE_MS
from tests.browsing.watch import Watch
from tests.browsing.workspace import Workspace
from tests.servers import AppServer, running_app

MODELS = ["llama", "bert", "t5", "gpt-oss"]
TEMPLATE = "{% for one in messages %}{{ one['role'] + ':' + one['content'] }}</s>{% endfor %}bot:"


@pytest.fixture(scope="package")
def huggingface(
    tmp_path_factory: pytest.TempPathFactory, server_cache: Path
) -> Iterator[AppServer]:
    pytest.importorskip("transformers")
    from tests.model.tiny_huggingface import make

    root = tmp_path_factory.mktemp("models")
    folders = {name: make(name, root / name) for name in MODELS}
    folders["chat"] = make("llama", root / "chat")
    (folders["chat"] / "chat_template.jinja").write_text(TEMPLATE)
    served = ",".join(f"{name}=hf:{folder}" for name, folder in folders.items())
    settings = {"models": served, "zoo": "false"}
    data = tmp_path_factory.mktemp("huggingface")
    with running_app(data, settings, warm=True, cache=server_cache) as server:
        yield server


@pytest.fixture
def workspace(page: Page, watch: Watch, huggingface: AppServer) -> Workspace:
    page.set_default_timeout(PATIENCE_MS)
    return Workspace(page, huggingface.url)
