"""Models of a hub by name: downloaded once if that is allowed, whole, and only what is needed."""

import os
import subprocess
import sys
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
import headlight, sys
model = headlight.load("hf:" + sys.argv[1], "cpu")
print(model.info.name, model.trace("The cat")["encoder.0.self.weights"].shape)
"""
Ask = Callable[..., str]


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
def ask(server: StandIn, tmp_path: Path) -> Ask:
    """Return a function that runs a script in another process, with a cache of this test."""

    def run(place: str, download: bool = True, script: str = FOLDER, **variables: str) -> str:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        own = {"HF_HOME": str(tmp_path / "cache"), "HF_ENDPOINT": server.url, **variables}
        arguments = [sys.executable, "-c", script, place, str(int(download))]
        done = subprocess.run(
            arguments, cwd=ROOT, env=kept | own, capture_output=True, text=True, check=False
        )
        return (done.stdout + done.stderr).replace(str(tmp_path), "…")

    return run


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
    server: StandIn, ask: Ask, tmp_path: Path
) -> None:
    large = tmp_path / "large"
    large.mkdir()
    (large / "config.json").write_text("{}")
    (large / "model.safetensors").write_bytes(os.urandom(1 << 20) * 24)  # read by 10 MB
    server.models["tiny/large"] = large
    server.cuts = 1
    folder = ask("tiny/large").splitlines()[0].replace("…", str(tmp_path))
    firsts = [asked for _, _, asked in server.requests if asked]
    assert len(firsts) == 1
    assert int(firsts[0].removeprefix("bytes=").rstrip("-")) > 1 << 20
    whole = (large / "model.safetensors").read_bytes()
    assert (Path(folder) / "model.safetensors").read_bytes() == whole


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
    assert "1 files, 0." in ask(BERT)
    assert server.fetched() == ["model.safetensors"]
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
    assert "HEADLIGHT_DOWNLOAD=1" in ask(BERT, script=TRACE)
    said = ask(BERT, script=TRACE, HEADLIGHT_DOWNLOAD="1")
    assert "bert (4, 4, 4)" in said, said
