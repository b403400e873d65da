"""Small parts: settings, negotiation, rate limits, the wire format, documented values."""

import re
import time
from pathlib import Path
from typing import get_args

import numpy as np
import orjson
import pytest
import torch
from pydantic import ValidationError
from starlette.requests import Request as StarletteRequest

from app.assets.languages import negotiate
from app.engine.reply_formats import Reply, trace_reply
from app.http.file_formats import choose, preferences
from app.http.limits import PerMinute
from app.http.problems import TITLES, ProblemError
from app.settings import ROOT, Settings
from app.traces.interventions import EFFECT_VALUES, DecodeOptions, InterventionRequest
from model.adapters.requests.request import METHODS, Request
from model.adapters.requests.trace import Output, Trace
from model.text.tokens import Token
from model.trace.interventions import EFFECTS
from model.trace.tensor_tap import HEAD, KEY, QUERY, NamedTensor
from tests.serving.slow import Slow

FORMS = ["application/json", "application/octet-stream"]


@pytest.mark.parametrize(
    ("header", "chosen"),
    [
        (None, 0),
        ("", 0),
        ("*/*", 0),
        ("application/*", 0),
        ("application/octet-stream", 1),
        ("APPLICATION/OCTET-STREAM", 1),
        ("text/html,application/xhtml+xml,*/*;q=0.8", 0),
        ("application/octet-stream;q=0.5, application/json;q=0.4", 1),
        ("application/octet-stream;q=nonsense, */*;q=0.1", 0),
        ("image/png", None),
        ("application/json;q=0", None),
    ],
)
def test_accept(header: str | None, chosen: int | None) -> None:
    assert choose(header, FORMS) == (None if chosen is None else FORMS[chosen])


def test_preferences_keep_the_order_of_equals() -> None:
    assert preferences("b, a;q=0.5, c;level=1") == ["b", "c", "a"]


def test_the_language_is_that_of_the_cookie_before_the_browsers() -> None:
    def language(cookie: str) -> str:
        headers = [(b"cookie", cookie.encode()), (b"accept-language", b"en")]
        scope = {"type": "http", "query_string": b"", "headers": headers}
        return negotiate(StarletteRequest(scope), ["en", "zh"])

    for cookie in ("lang=zh", "a=b; lang=zh", "a=b;lang=zh; c=d", "lang=zh-Hans"):
        assert language(cookie) == "zh", cookie
    for cookie in ("", "lang=", "slang=zh", 'lang="zh', "lang=zh!", "a=lang=zh"):
        assert language(cookie) == "en", cookie


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADLIGHT_PORT", "9000")
    monkeypatch.setenv("HEADLIGHT_MODELS", "en-zh,mine=/tmp/my model")
    monkeypatch.setenv("HEADLIGHT_PUBLIC_URL", "")
    settings = Settings()
    assert settings.port == 9000
    assert settings.bundles == {"en-zh": "en-zh", "mine": "/tmp/my model"}
    assert settings.public_url is None


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        (None, "sqlite+aiosqlite:////somewhere/headlight.db"),
        ("sqlite:///a.db", "sqlite+aiosqlite:///a.db"),
        ("postgres://me:p%40ss@host/name", "postgresql+asyncpg://me:p%40ss@host/name"),
        ("postgresql+asyncpg://host/name", "postgresql+asyncpg://host/name"),
    ],
)
def test_database_url(written: str | None, meant: str) -> None:
    assert Settings(data_dir=Path("/somewhere"), database_url=written).database == meant


@pytest.mark.parametrize(
    "wrong",
    [{"port": 70_000}, {"models": "a=b,,"}, {"public_url": "example.org"}, {"max_queue": 0},
     {"device": "tpu"}, {"database_url": "nonsense"}, {"database_url": "mysql://host/name"}],
)  # fmt: skip
def test_invalid_settings_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Settings(**wrong)  # type: ignore[arg-type]


async def test_a_minute_is_counted_for_each_address(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_000_059.5  # the minute starts with the first share, not with the clock's minute
    monkeypatch.setattr(time, "time", lambda: now)
    limit = PerMinute(2, kind="too-many-shares", counted="shares")
    await limit.count("a")
    now += 1
    await limit.count("a")
    await limit.count("b")
    now += 58
    with pytest.raises(ProblemError) as error:
        await limit.count("a")
    assert (error.value.headers or {})["Retry-After"] == "1"
    assert "at most 2" in str(error.value.detail)
    await limit.count("b")
    now += 1
    await limit.count("a")


def test_the_schema_offers_what_the_model_does() -> None:
    assert set(get_args(DecodeOptions.model_fields["method"].annotation)) == set(METHODS)
    (words, *_) = get_args(InterventionRequest.model_fields["do"].annotation)
    assert {*get_args(words.__origin__), *EFFECT_VALUES} == set(EFFECTS)


def some_trace(value: torch.Tensor) -> Trace:
    token = Token("猫", 7, 0, 1, False)
    output = Output("猫", (token,), (-0.5,), (1,), -0.5, False)
    tensor = NamedTensor((HEAD, QUERY, KEY), {QUERY: "target", KEY: "source"}, value)
    return Trace(
        Slow.info,
        Request(""),
        {"source": (token,), "target": (token,)},
        {"decoder.0.cross.scores": tensor},
        output,
        "en-zh",
    )


def test_the_wire_round_trips() -> None:
    value = torch.rand(2, 3, 4).transpose(1, 2)  # not contiguous
    reply = trace_reply(some_trace(value), "id", "en-zh")
    assert reply.values == 24
    parsed = Reply.parse(reply.safetensors(more={"a": "😀"}))
    document = orjson.loads(reply.json())
    np.testing.assert_array_equal(parsed.arrays["decoder.0.cross.scores"], value.numpy())
    tensor = document["tensors"]["decoder.0.cross.scores"]
    np.testing.assert_array_equal(np.array(tensor.pop("data"), np.float32), value.numpy())
    assert parsed.document == document
    assert Reply.metadata(reply.safetensors(more={"a": "😀"}))["more"] == {"a": "😀"}


def test_non_finite_numbers_are_null() -> None:
    value = torch.tensor([[[float("nan"), float("inf"), -float("inf"), 1.0]]])
    for dtype in ("float32", "float16"):
        document = orjson.loads(trace_reply(some_trace(value), "", "", dtype).json())
        data = document["tensors"]["decoder.0.cross.scores"]["data"]
        assert data == [[[None, None, None, 1.0]]]


def test_an_empty_selection_is_a_file_too() -> None:
    reply = trace_reply(some_trace(torch.zeros(1, 1, 1)), "", "")
    empty = Reply({**reply.document, "tensors": {}}, {})
    assert Reply.parse(empty.safetensors()).arrays == {}


def table(name: str) -> set[str]:
    """Return the code in the first column of the tables of a docs page."""
    text = (ROOT / "docs" / name).read_text()
    return set(re.findall(r"^\| `([^`]+)`", text, re.MULTILINE))


def test_docs_name_every_setting() -> None:
    assert table("settings.md") == {f"HEADLIGHT_{name.upper()}" for name in Settings.model_fields}


def test_docs_name_every_problem() -> None:
    source = "".join(path.read_text() for path in (ROOT / "model").rglob("*.py"))
    from_model = set(re.findall(r'InputError\(\s*"([a-z-]+)"', source))
    assert set(TITLES) | from_model <= table("api.md")
