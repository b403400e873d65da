"""A stand-in of the hub's API on loopback: models from folders, and what goes wrong on the way."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from urllib.parse import urlsplit

COMMIT = "c0ffee" + "0" * 34
TOKEN = "hf_of_the_test"
API = re.compile(r"/api/models/(?P<name>[^/]+/[^/]+)(?:/(?P<what>revision|tree)/(?P<at>[^/]+))?")
FILE = re.compile(r"/(?P<name>[^/]+/[^/]+)/resolve/(?P<at>[^/]+)/(?P<path>.+)")


@dataclass
class StandIn:
    """A hub: its models, its faults, and the requests that it answered."""

    models: dict[str, Path]
    gated: set[str] = field(default_factory=set)  # need TOKEN
    cuts: int = 0  # so many replies of weights break off half-way
    stalls: bool = False  # weights stop half-way, and the connection stays open
    torn: bool = False  # weights are sent with other bytes than listed
    short: bool = False  # weights are listed with another size
    requests: list[tuple[str, str, str | None]] = field(default_factory=list)
    url: str = ""
    closing: Event = field(default_factory=Event)

    def fetched(self) -> list[str]:
        """Return the files that were sent."""
        matches = (FILE.fullmatch(path) for method, path, _ in self.requests if method == "GET")
        return [match["path"] for match in matches if match]


@contextmanager
def hub(models: dict[str, Path]) -> Iterator[StandIn]:
    """Serve folders as models until the block ends."""
    stand_in = StandIn(models)

    class Handler(_Handler):
        hub = stand_in

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    stand_in.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield stand_in
    finally:
        stand_in.closing.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: StandIn
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        pass

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        path = urlsplit(self.path).path
        self.hub.requests.append((self.command, path, self.headers.get("Range")))
        match = API.fullmatch(path) or FILE.fullmatch(path)
        name = match["name"] if match else ""
        if name not in self.hub.models:
            return self._refuse(401, "RepoNotFound")
        assert match
        if name in self.hub.gated and self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return self._refuse(403, "GatedRepo")
        if match["at"] not in (None, "main", COMMIT):
            return self._refuse(404, "RevisionNotFound")
        folder = self.hub.models[name]
        if "path" in match.groupdict():
            return self._file(folder / match["path"])
        files = [self._listed(path) for path in sorted(folder.rglob("*")) if path.is_file()]
        if match["what"] == "tree":
            return self._json(
                [{"type": "file", "path": file.pop("rfilename"), **file} for file in files]
            )
        return self._json({"id": name, "sha": COMMIT, "siblings": files})

    def _listed(self, path: Path) -> dict[str, object]:
        folder = next(one for one in self.hub.models.values() if path.is_relative_to(one))
        size = path.stat().st_size + (self.hub.short and path.suffix == ".safetensors")
        listed = {"rfilename": path.relative_to(folder).as_posix(), "size": size}
        content = path.read_bytes()
        git = hashlib.sha1(f"blob {len(content)}\0".encode() + content).hexdigest()
        listed |= {"oid": git, "blobId": git}
        if path.suffix == ".safetensors":
            sha256 = hashlib.sha256(content).hexdigest()
            listed["lfs"] = {"oid": sha256, "sha256": sha256, "size": size, "pointerSize": 134}
        return listed

    def _file(self, path: Path) -> None:
        if not path.is_file():
            return self._refuse(404, "EntryNotFound")
        content, listed = path.read_bytes(), self._listed(path)
        lfs = listed.get("lfs")
        etag = lfs["oid"] if isinstance(lfs, dict) else listed["oid"]
        if lfs and self.hub.torn:
            content = bytes(len(content))
        first = 0
        if asked := self.headers.get("Range"):
            first = int(asked.removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if asked else 200)
        if asked:
            self.send_header("Content-Range", f"bytes {first}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - first))
        self.send_header("ETag", f'"{etag}"')
        self.send_header("X-Linked-Size", str(listed["size"]))
        self.send_header("X-Repo-Commit", COMMIT)
        self.end_headers()
        if self.command == "HEAD":
            return None
        if lfs and (self.hub.stalls or self.hub.cuts > 0):
            self.wfile.write(content[first : first + (len(content) - first) // 2])
            self.wfile.flush()
            if self.hub.stalls:
                self.hub.closing.wait()
            else:
                self.hub.cuts -= 1
            self.close_connection = True
            return None
        self.wfile.write(content[first:])
        return None

    def _json(self, value: object) -> None:
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _refuse(self, status: int, code: str) -> None:
        self.send_response(status)
        self.send_header("X-Error-Code", code)
        self.send_header("X-Error-Message", code)
        self.send_header("Content-Length", "0")
        self.end_headers()
