"""Fixtures for all tests: a running Headlight, a running PostgreSQL, the exported model."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import settings

from model.bundle.weights import CHECKPOINTS, SUMS
from tests.servers import AppServer, own_environment, running_app, running_postgres

ROOT = Path(__file__).parents[1]
pytest_plugins = ["tests.serving.fixtures", "tests.browsing.fixtures"]

# A developer's own settings must not change results or lead a test to their data.
for _name in os.environ.keys() - own_environment().keys():
    del os.environ[_name]

# A quarter of Hypothesis's usual number: a mistake that 25 cases miss, 100 rarely find.
settings.register_profile("suite", max_examples=25)
settings.load_profile("suite")

# Small models gain nothing from threads, and are much slower when a browser uses the other core.
os.environ.setdefault("OMP_NUM_THREADS", "1")


# Folders of tests that no thread, process or browser can delay.
STEADY = {"model", "package", "lessons", "scale"}


def in_browser(item: pytest.Item) -> bool:
    """Return whether a test opens a page."""
    return item.path.name.startswith("test_page_")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run browser tests last: Playwright keeps an event loop that asyncio tests cannot share.

    Tests of the server and the page depend on the timing of threads, processes and a browser. If
    one of them fails, it is run a second time, and listed as a rerun (R) if it then passes.
    """
    items.sort(key=in_browser)
    for item in items:
        _, *folders, _ = item.path.relative_to(item.config.rootpath).parts
        if in_browser(item) or not STEADY.issuperset(folders):
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture(scope="session")
def common(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder shared by all processes of this test run."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@pytest.fixture(scope="session")
def server_cache(common: Path) -> Path:
    """A cache of files that every server would otherwise create itself."""
    folder = common / "server-cache"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def exported(pytestconfig: pytest.Config) -> Path:
    """The shipped model as a page loads it, read-only: exported once for what it is made from.

    It takes a minute, so the next run of the tests finds it too, unless a file has changed.
    """
    pytest.importorskip("onnxscript")
    from model.web.export import GRAPHS, export_for_web

    def write(folder: Path) -> None:
        list(export_for_web(CHECKPOINTS / "en-zh", folder))

    return _exported_once(pytestconfig, "en-zh", GRAPHS, write)


@pytest.fixture(scope="session")
def exported_lab(pytestconfig: pytest.Config) -> Path:
    """The stages of the lab as a page loads them, read-only and kept in the same way."""
    pytest.importorskip("onnxscript")
    from model.web.lab_graphs import STAGES_FILE, write_lab

    return _exported_once(pytestconfig, "lab", STAGES_FILE, lambda folder: list(write_lab(folder)))


def _exported_once(
    pytestconfig: pytest.Config, name: str, last: str, write: Callable[[Path], object]
) -> Path:
    """Return a folder that is written once for what it is made from; `last` is its last file."""
    cache = pytestconfig.cache.mkdir("exported")
    made_from = cache / _made_from()
    with FileLock(cache / "lock"):
        if not (made_from / name / last).exists():
            for older in cache.glob("*/"):
                if older != made_from:
                    shutil.rmtree(older)
            write(made_from / name)
    return made_from / name


def _made_from() -> str:
    """Return a digest of all that an exported model is made from: code, weights and libraries."""
    files = [*sorted(ROOT.glob("model/**/*.py")), CHECKPOINTS / "en-zh" / SUMS]
    libraries = [version(library) for library in ("torch", "onnx", "onnxscript")]
    parts = [*libraries, *(sha256(file.read_bytes()).hexdigest() for file in files)]
    return sha256(" ".join(parts).encode()).hexdigest()[:16]


@pytest.fixture(scope="session")
def live_server(
    tmp_path_factory: pytest.TempPathFactory, server_cache: Path
) -> Iterator[AppServer]:
    """One server for all tests that only send requests to it and change nothing."""
    data_dir = tmp_path_factory.mktemp("live-server")
    # Its training runs do not yield to the rest of the machine, which may be busy for minutes.
    with running_app(data_dir, {"run_nice": "0"}, warm=True, cache=server_cache) as server:
        yield server


@pytest.fixture
def launch(tmp_path: Path, server_cache: Path) -> Iterator[Callable[..., AppServer]]:
    """Start a server for this test only: ``launch(data_dir=…, database_url=…)``.

    Without ``data_dir`` all of a test's servers share one folder, so that a second one finds what
    the first one stored.
    """
    with ExitStack() as servers:

        def start(data_dir: Path = tmp_path / "data", **settings: str) -> AppServer:
            server = running_app(data_dir, settings, warm=True, cache=server_cache)
            return servers.enter_context(server)

        yield start


@pytest.fixture(scope="session")
def postgres() -> Iterator[Callable[[str], str]]:
    """Create a database in a PostgreSQL for this run; return its URL: ``postgres("shares")``."""
    with running_postgres() as create:
        yield create
