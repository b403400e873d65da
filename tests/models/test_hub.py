"""Models of a hub by name: downloaded once if that is allowed, whole, and only what is needed."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app.settings import Settings
from tests.model.tiny_huggingface import make
from tests.models.hub_stand_in import COMMIT, TOKEN, StandIn, hub

pytest.importorskip("transformers")

ROOT = Path(__file__).parents[2]
BERT = "tiny/bert"
# It imports neither PyTorch nor transformers.
FOLDER = """
import sys
from model.adapters.huggingface.hub import folder_of, hub_model
try:
    print(folder_of(hub_model(sys.argv[1]), sys.argv[2] == "1"))
except ValueError as error:
    print("refused:", error)
"""
TRACE = """
import headlight, os, sys
try:
    headlight.load("hf:" + sys.argv[1], "cpu")
except ValueError as error:
    print("refused:", error)
os.environ["HEADLIGHT_DOWNLOAD"] = "1"
model = headlight.load("hf:" + sys.argv[1], "cpu")
print(model.info.name, model.trace("The cat")["encoder.0.self.weights"].shape)
"""
Ask = Callable[..., str]
LARGE = "tiny/large"
READ = 10 << 20  # bytes that are read, and written, at once


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "bert"
    make("bert", folder)
    (folder / "modeling_own.py").write_text("raise SystemExit")
    (folder / "pytorch_model.bin").write_bytes(b"a pickle")
    (folder / "consolidated.safetensors").write_bytes(b"the same again")
    (folder / "onnx").mkdir()
    (folder / "onnx" / "config.json").write_text("{}")
    return folder


@pytest.fixture
def server(bert: Path, tmp_path: Path) -> Iterator[StandIn]:
    pickled = tmp_path / "pickled"
    pickled.mkdir()
    (pickled / "config.json").write_text("{}")
    (pickled / "pytorch_model.bin").write_bytes(b"a pickle")
    with hub({BERT: bert, "tiny/pickled": pickled}) as stand_in:
        yield stand_in


@pytest.fixture
def environment(server: StandIn, tmp_path: Path) -> dict[str, str]:
    """Return the variables of a process that uses the stand-in, with a cache of this test."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
    return {**kept, "HF_HOME": str(tmp_path / "cache"), "HF_ENDPOINT": server.url}


@pytest.fixture
def ask(environment: dict[str, str], tmp_path: Path) -> Ask:
    """Return a function that runs a script in another process."""

    def run(place: str, download: bool = True, script: str = FOLDER, **variables: str) -> str:
        arguments = [sys.executable, "-c", script, place, str(int(download))]
        done = subprocess.run(
            arguments,
            cwd=ROOT,
            env=environment | variables,
            capture_output=True,
            text=True,
            check=False,
        )
        return (done.stdout + done.stderr).replace(str(tmp_path), "…")

    return run


@pytest.fixture
def large_weights(server: StandIn, tmp_path: Path) -> bytes:
    """Return the weights of a model that are read in three parts."""
    large = tmp_path / "large"
    large.mkdir()
    (large / "config.json").write_text("{}")
    content = os.urandom(1 << 20) * 24
    (large / "model.safetensors").write_bytes(content)
    server.models[LARGE] = large
    return content


def snapshot(tmp_path: Path) -> Path:
    return tmp_path / "cache" / "hub" / "models--tiny--bert" / "snapshots" / COMMIT


def test_it_is_downloaded_once_and_only_what_is_needed(
    server: StandIn, ask: Ask, bert: Path, tmp_path: Path
) -> None:
    said = ask(BERT)
    assert f"Downloading {BERT} (c0ffee00) from {server.url}: 4 files, 0." in said
    assert " MB, into …/cache/hub" in said
    assert str(snapshot(Path("…"))) in said
    names = sorted(path.name for path in snapshot(tmp_path).iterdir())
    assert names == sorted(
        [
            "config.json",
            "model.safetensors",
            "tokenizer.json",
            "tokenizer_config.json",
        ]
    )
    for name in names:
        assert (snapshot(tmp_path) / name).read_bytes() == (bert / name).read_bytes()
    server.requests.clear()
    assert ask(BERT).strip() == str(snapshot(Path("…")))
    assert ask(BERT, download=False).strip() == str(snapshot(Path("…")))
    assert ask(f"{BERT}@{COMMIT}", download=False).strip() == str(snapshot(Path("…")))
    assert server.requests == []


def test_without_permission_it_says_how(server: StandIn, ask: Ask) -> None:
    said = ask(BERT, download=False)
    assert said.startswith(f"refused: {BERT}: it is not in the cache, …/cache/hub.")
    assert "set HEADLIGHT_DOWNLOAD=1, or use load(…, download=True)" in said
    assert server.requests == []


def test_a_broken_connection_is_taken_up_where_it_broke(
    server: StandIn, ask: Ask, large_weights: bytes, tmp_path: Path
) -> None:
    server.cuts = 1
    folder = ask(LARGE).splitlines()[0].replace("…", str(tmp_path))
    assert resumed(server) == [READ]
    assert (Path(folder) / "model.safetensors").read_bytes() == large_weights


def test_the_download_of_a_killed_process_is_taken_up_by_the_next(
    server: StandIn, ask: Ask, environment: dict[str, str], large_weights: bytes, tmp_path: Path
) -> None:
    server.stalls = True
    process = subprocess.Popen(
        [sys.executable, "-c", FOLDER, LARGE, "1"],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while sum(part.stat().st_size for part in parts(tmp_path)) < READ:
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.05)
    process.kill()
    process.wait()
    server.stalls = False
    assert resumed(server) == []

    folder = ask(LARGE).splitlines()[0].replace("…", str(tmp_path))
    assert resumed(server) == [READ]
    assert (Path(folder) / "model.safetensors").read_bytes() == large_weights
    assert parts(tmp_path) == []


def parts(tmp_path: Path) -> list[Path]:
    return list((tmp_path / "cache").rglob("*.incomplete"))


def resumed(server: StandIn) -> list[int]:
    """Return the first bytes of the replies that were asked for from the middle."""
    ranges = [asked for _, _, asked in server.requests if asked]
    return [int(asked.removeprefix("bytes=").rstrip("-")) for asked in ranges]


def test_an_interrupted_download_goes_on_with_what_is_missing(
    server: StandIn, ask: Ask, bert: Path, tmp_path: Path
) -> None:
    server.short = True  # fails after all bytes, as a connection that ends too early
    said = ask(BERT)
    assert (
        f"refused: {BERT}: it could not be downloaded from {server.url} (OSError: Consist" in said
    )
    assert "the next attempt goes on from there" in said
    assert not (snapshot(tmp_path) / "model.safetensors").exists()
    server.short = False
    server.requests.clear()
    # The listing of a commit is kept, and with it the wrong size.
    for listing in (tmp_path / "cache").rglob("trees/*.json"):
        listing.unlink()
    assert "refused" not in ask(BERT)
    assert "model.safetensors" not in server.fetched()  # all its bytes had come
    kept = snapshot(tmp_path) / "model.safetensors"
    assert kept.read_bytes() == (bert / "model.safetensors").read_bytes()


def test_a_file_with_another_hash_is_deleted(server: StandIn, ask: Ask, tmp_path: Path) -> None:
    server.torn = True
    said = ask(BERT)
    assert "model.safetensors was not downloaded as the hub lists it: its SHA-256 is" in said
    assert not list((tmp_path / "cache").rglob("model.safetensors"))
    server.torn = False
    assert "refused" not in ask(BERT)


def test_a_gated_model_needs_a_token(server: StandIn, ask: Ask) -> None:
    server.gated.add(BERT)
    said = ask(BERT)
    assert "it is gated: accept its terms on its page, then set HF_TOKEN" in said
    assert "refused" not in ask(BERT, HF_TOKEN=TOKEN)


@pytest.mark.parametrize(
    ("place", "says"),
    [
        ("tiny/none", "has no such model, or it is private"),
        (f"{BERT}@none", "has no revision 'none' of it"),
        (
            "tiny/pickled",
            "it has pytorch_model.bin, but no model.safetensors: only safetensors of a whole model "
            "are read; nothing was downloaded",
        ),
    ],
)
def test_what_is_missing_is_named(server: StandIn, ask: Ask, place: str, says: str) -> None:
    said = ask(place)
    assert f"refused: {place}: " in said
    assert says in said
    assert server.fetched() == []


def test_a_filled_cache_is_enough_without_a_network(server: StandIn, ask: Ask) -> None:
    offline = {"HF_ENDPOINT": "http://127.0.0.1:1"}
    assert "could not be downloaded from http://127.0.0.1:1" in ask(BERT, **offline)
    ask(BERT)
    assert "refused" not in ask(BERT, **offline)
    assert "refused" not in ask(BERT, HF_HUB_OFFLINE="1")


def test_the_setting_allows_it(server: StandIn, ask: Ask) -> None:
    settings = Settings(models=f"en-zh,bert=hf:{BERT}@main", download=True)
    assert settings.bundles["bert"] == f"hf:{BERT}@main"
    assert not Settings().download
    said = ask(BERT, script=TRACE)
    refused, _, loaded = said.partition("\nbert (4, 4, 4)")
    assert "set HEADLIGHT_DOWNLOAD=1" in refused, said
    assert f"Downloading {BERT}" in loaded, said  # on stderr, which follows
