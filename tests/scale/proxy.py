"""nginx in front of two servers, as it is shipped but for ports and the servers' addresses."""

import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from getpass import getuser
from pathlib import Path

from tests.servers import ROOT, answers, free_port, wait

NAMED = re.compile(r"    server web:8000 resolve( [^;]*);")


def configuration(folder: Path, backends: Sequence[str], port: int) -> str:
    """Return the whole of nginx's configuration."""
    site = (ROOT / "deploy/scale/headlight.conf.template").read_text()
    site = re.sub(r"    resolver .*\n", "", site)
    assert NAMED.search(site)
    site = NAMED.sub(
        lambda found: "".join(f"    server {one}{found[1]};\n" for one in backends), site
    )
    site = site.replace("listen 8080;", f"listen 127.0.0.1:{port};")
    kept = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    return (
        f"user {getuser()};\npid {folder}/nginx.pid;\nerror_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\n{kept}{site}}}\n"
    )


@contextmanager
def running_nginx(folder: Path, backends: Sequence[str]) -> Iterator[str]:
    """Start it and yield its URL."""
    port = free_port()
    (folder / "nginx.conf").write_text(configuration(folder, backends, port))
    with (folder / "nginx.log").open("wb") as log:
        process = subprocess.Popen(
            ["nginx", "-p", str(folder), "-c", f"{folder}/nginx.conf", "-g", "daemon off;"],
            stdout=log,
            stderr=log,
        )
    try:
        wait(lambda: answers(port, "/api/health"), process, folder / "nginx.log")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(timeout=15)
