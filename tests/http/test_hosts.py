"""The hosts that the server answers to, trusted proxies, and internet mode."""

import re
from collections.abc import Callable

import httpx
import pytest
from pydantic import ValidationError

from app.settings import PUBLIC_DEFAULTS, ROOT, Settings
from tests.servers import PATIENCE, AppServer
from tests.serving.fixtures import Serving
from tests.serving.problem import hold

SHARE = {"state": {"source": "hi"}}
OURS = [
    "localhost",
    "localhost:8000",
    "LOCALHOST.",
    "127.0.0.1:8000",
    "192.168.1.20",
    "[::1]:8000",
    "[fe80::1]",
    "classroom",
    "classroom.local:8000",
    "pi.lan",
    "pi.home.arpa",
]
OTHERS = [
    "evil.example",
    "evil.example:8000",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "evil.example#.local",
    "evil.example/.local",
    "user@localhost",
    "localhost:80:80",
    "localhost:port",
    "[::1",
    "[::1].evil.example",
    "",
    " ",
    "a." * 130 + "local",  # a name has at most 253 characters
]


@pytest.mark.parametrize("host", OURS)
def test_a_class_reaches_it_by_any_local_name(reader: httpx.Client, host: str) -> None:
    assert reader.get("/api/models", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", OTHERS)
def test_share_links_never_use_a_foreign_host(reader: httpx.Client, host: str) -> None:
    for path in ("/", "/api/models", "/static/0/css/page.css"):
        hold(reader.get(path, headers={"Host": host}), 421, "unknown-host", None)
    reply = reader.post("/api/shares", json=SHARE, headers={"Host": host})
    hold(reply, 421, "unknown-host", None)
    assert reply.headers["x-content-type-options"] == "nosniff"


def test_two_host_headers_are_refused(reader: httpx.Client) -> None:
    hosts = [("Host", "localhost"), ("Host", "evil.example")]
    for headers in (hosts, hosts[::-1]):
        hold(reader.get("/", headers=headers), 421, "unknown-host", None)


@pytest.mark.parametrize("path", ["/api/health"])
def test_probes_work_under_any_host_name(reader: httpx.Client, path: str) -> None:
    assert reader.get(path, headers={"Host": "10.0.0.9.pod"}).status_code == 200


async def test_configured_hosts_are_accepted(serving: Serving) -> None:
    names = "headlight.example.org,*.school.example"
    async with serving(allowed_hosts=names, public_url="https://other.example:8443/x") as client:
        for host, status in {
            "headlight.example.org": 200,
            "HEADLIGHT.example.org:443": 200,
            "a.b.school.example": 200,
            "other.example": 200,
            "localhost": 200,
            "school.example": 421,
            "evilschool.example": 421,
            "x.headlight.example.org": 421,
        }.items():
            reply = await client.get("/api/models", headers={"Host": host})
            assert reply.status_code == status, host
    async with serving(allowed_hosts="*") as client:
        reply = await client.get("/api/models", headers={"Host": "evil.example"})
        assert reply.status_code == 200


async def test_public_servers_accept_only_named_hosts(serving: Serving) -> None:
    async with serving(public=True, public_url="https://headlight.example.org") as client:
        client.base_url = httpx.URL("https://headlight.example.org")
        page = await client.get("/")
        assert page.status_code == 200
        assert page.headers["strict-transport-security"] == "max-age=31536000"
        for host in ("localhost", "127.0.0.1", "classroom", "evil.example"):
            hold(await client.get("/", headers={"Host": host}), 421, "unknown-host", None)
        for path in ("/docs", "/openapi.json"):
            assert (await client.get(path)).status_code == 404
        share = await client.post("/api/shares", json=SHARE)
        assert share.json()["url"].startswith("https://headlight.example.org/s/")
        client.base_url = httpx.URL("http://headlight.example.org")
        assert "strict-transport-security" not in (await client.get("/")).headers


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"public": True}, "public"),
        ({"public": True, "allowed_hosts": "*"}, "public"),
        ({"trusted_proxies": "*"}, "trusted_proxies"),
        ({"trusted_proxies": "127.0.0.1,proxy"}, "trusted_proxies"),
        ({"allowed_hosts": "http://localhost"}, "allowed_hosts"),
        ({"allowed_hosts": "a.*.org"}, "allowed_hosts"),
    ],
)
def test_public_mode_without_a_host_is_refused(wrong: dict[str, object], field: str) -> None:
    with pytest.raises(ValidationError) as error:
        Settings(**wrong)  # type: ignore[arg-type]
    assert [one["loc"] for one in error.value.errors()] == [(field,)]


def test_the_docs_say_these_limits() -> None:
    page = (ROOT / "docs/settings.md").read_text().partition("## On the internet")[2]
    rows = re.findall(r"^\| `HEADLIGHT_(\w+)` \| ([\d,]+) \|$", page, re.MULTILINE)
    told = {name.lower(): float(number.replace(",", "")) for name, number in rows}
    assert told == PUBLIC_DEFAULTS


def test_limits_on_the_internet(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Settings()
    monkeypatch.setenv("HEADLIGHT_PUBLIC", "1")
    monkeypatch.setenv("HEADLIGHT_ALLOWED_HOSTS", "headlight.example.org")
    monkeypatch.setenv("HEADLIGHT_MAX_QUEUE", "50")
    public = Settings()
    assert public.max_queue == 50
    for name, value in PUBLIC_DEFAULTS.items():
        assert value < getattr(plain, name)
        assert getattr(public, name) == (50 if name == "max_queue" else value)


def test_only_trusted_proxies_set_the_client_address(launch: Callable[..., AppServer]) -> None:
    server = launch(max_shares_per_minute="2")
    url = f"{server.url}/api/shares"
    for number, status in enumerate([201, 200, 429]):
        headers = {"X-Forwarded-For": f"203.0.113.{number}", "X-Forwarded-Proto": "https"}
        reply = httpx.post(url, json=SHARE, headers=headers, trust_env=False, timeout=PATIENCE)
        assert reply.status_code == status
        assert "https:" not in reply.text
