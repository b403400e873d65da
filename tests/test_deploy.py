"""The shipped configurations of reverse proxies, each in front of a real server."""

import json
import re
import shutil
import ssl
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path

import httpx
import pytest

from tests.servers import PATIENCE, ROOT, AppServer, free_port, running_app

HOST = "headlight.example.org"
PUBLIC = {
    "public": "1",
    "public_url": f"https://{HOST}",
    "trusted_proxies": "127.0.0.1",
    "metrics": "1",
    "max_shares_per_minute": "2",
}
PROXIES = ("nginx", "caddy")


def nginx(folder: Path, backend: str, port: int) -> list[str]:
    """Write the shipped configuration with other ports and certificates, without IPv6."""
    site = (ROOT / "deploy/nginx.conf").read_text()
    site = re.sub(r"listen \[::\].*\n", "", site)
    site = site.replace("listen 80;", f"listen 127.0.0.1:{free_port()};")
    site = site.replace("listen 443 ", f"listen 127.0.0.1:{port} ")
    site = re.sub(r"/etc/letsencrypt/live/[^/]+/fullchain.pem", f"{folder}/cert.pem", site)
    site = re.sub(r"/etc/letsencrypt/live/[^/]+/privkey.pem", f"{folder}/key.pem", site)
    site = site.replace("127.0.0.1:8000", backend)
    kept = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    (folder / "nginx.conf").write_text(
        f"user {getuser()};\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\n{kept}{site}}}\n"
    )
    return ["nginx", "-p", str(folder), "-c", f"{folder}/nginx.conf", "-g", "daemon off;"]


def caddy(folder: Path, backend: str, port: int) -> list[str]:
    """Write the shipped configuration with other ports and certificates."""
    site = (ROOT / "deploy/Caddyfile").read_text()
    site = site.replace("{\n\tservers", "{\n\tadmin off\n\tauto_https off\n\tservers", 1)
    own = f"https://{HOST}:{port} {{\n\tbind 127.0.0.1\n\ttls {folder}/cert.pem {folder}/key.pem"
    site = site.replace(f"\n{HOST} {{", f"\n{own}")
    site = site.replace("127.0.0.1:8000", backend)
    (folder / "Caddyfile").write_text(site)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", f"{folder}/Caddyfile"]


COMMANDS: dict[str, Callable[[Path, str, int], list[str]]] = {"nginx": nginx, "caddy": caddy}


@contextmanager
def running_proxy(name: str, folder: Path, backend: str) -> Iterator[httpx.Client]:
    """Start a proxy and yield a client that reaches it as the host that it is for."""
    for command in (name, "openssl"):
        if shutil.which(command) is None:
            pytest.skip(f"{command} is not installed; `make test` installs it on Debian")
    files = ["-keyout", "key.pem", "-out", "cert.pem", "-days", "2", "-nodes"]
    about = ["-newkey", "rsa:2048", "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    made = ["openssl", "req", "-x509", *about, *files]
    subprocess.run(made, cwd=folder, check=True, capture_output=True)
    port = free_port()
    with (folder / "proxy.log").open("wb") as log:
        process = subprocess.Popen(
            COMMANDS[name](folder, backend, port),
            env={"HOME": str(folder), "PATH": "/usr/sbin:/usr/bin:/bin"},
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    trusted = ssl.create_default_context(cafile=str(folder / "cert.pem"))
    transport = _ByName(port, trusted, f"127.0.0.{2 + PROXIES.index(name)}")
    try:
        with httpx.Client(
            transport=transport, base_url=f"https://{HOST}", timeout=PATIENCE
        ) as client:
            _wait(client, process, folder / "proxy.log")
            yield client
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


class _ByName(httpx.BaseTransport):
    """Connects to loopback under the host's name, each client from its own address."""

    def __init__(self, port: int, trusted: ssl.SSLContext, address: str) -> None:
        self.port = port
        self.http = httpx.HTTPTransport(verify=trusted, local_address=address)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        request.extensions["sni_hostname"] = HOST
        request.url = request.url.copy_with(host="127.0.0.1", port=self.port)
        return self.http.handle_request(request)

    def close(self) -> None:
        self.http.close()


def _wait(client: httpx.Client, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            client.get("/api/health")
            return
        except httpx.TransportError as error:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(log.read_text()[-2000:]) from error
            time.sleep(0.1)


@pytest.fixture(scope="module")
def backend(tmp_path_factory: pytest.TempPathFactory, server_cache: Path) -> Iterator[AppServer]:
    """A server with the settings that the configurations name."""
    data_dir = tmp_path_factory.mktemp("backend")
    with running_app(data_dir, PUBLIC, warm=True, cache=server_cache) as server:
        yield server


@pytest.fixture(scope="module", params=PROXIES)
def client(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, backend: AppServer
) -> Iterator[httpx.Client]:
    """A client of a proxy."""
    folder = tmp_path_factory.mktemp(request.param)
    with running_proxy(request.param, folder, backend.url.removeprefix("http://")) as client:
        yield client


def test_a_request_goes_through(client: httpx.Client) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert page.headers["strict-transport-security"]
    assert page.headers["x-request-id"]
    run = client.post("/api/trace", json={"source": "The cat sat.", "select": []})
    assert run.json()["output"]["text"]
    assert client.get("/api/ready").json() == {"status": "ready"}
    # The longest allowed sentence, in Chinese, with the page as referrer.
    path = f"/?source={'%E7%8C%AB' * 1_000}"
    long = client.get(path, headers={"Referer": f"https://{HOST}{path}"})
    assert long.status_code == 200


def test_bounds_are_answered_by_headlight(client: httpx.Client) -> None:
    large = client.post("/api/trace", content=b" " * 300_000)
    assert large.json()["type"] == "urn:headlight:body-too-large"
    assert client.get("/metrics").status_code == 404
    assert client.get("/docs").status_code == 404


def test_a_stream_comes_line_by_line(client: httpx.Client) -> None:
    body = {"source": "The cat sat on the mat and the dog ran after it."}
    started = time.monotonic()
    with client.stream("POST", "/api/sweep", json=body) as reply:
        lines = [(time.monotonic() - started, json.loads(line)) for line in reply.iter_lines()]
    assert "start" in lines[0][1]
    assert "end" in lines[-1][1]
    assert lines[-1][0] - lines[0][0] > 0.3 * (lines[-1][0])


def test_a_share_link_leads_back(client: httpx.Client, backend: AppServer) -> None:
    """The limit on shares counts clients by address, whatever headers they send."""
    for number, status in enumerate([201, 200, 429]):
        said = {"X-Forwarded-For": f"203.0.113.{number}", "X-Forwarded-Proto": "gopher"}
        made = client.post("/api/shares", json={"state": {"source": "hi"}}, headers=said)
        assert made.status_code == status
        if status == 201:
            url = made.json()["url"]
            assert url.startswith(f"https://{HOST}/s/")
            page = client.get(url, headers={"Accept": "text/html"})
            assert page.status_code == 200
            assert f'<meta property="og:url" content="{url}">' in page.text
    metrics = httpx.get(f"{backend.url}/metrics", trust_env=False).text
    assert 'route="/api/shares"' in metrics
