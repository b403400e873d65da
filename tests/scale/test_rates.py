"""Servers share their shares and count them together, and go on where Redis does not."""

from collections.abc import Callable
from itertools import count
from pathlib import Path

import httpx

from tests.scale.stores import running_redis
from tests.servers import AppServer

NUMBERS = count()


def share(server: AppServer) -> httpx.Response:
    """Create a share of its own: a repeated request would return the share that exists."""
    body = {"state": {"source": f"The cat sat {next(NUMBERS)}."}}
    return httpx.post(f"{server.url}/api/shares", json=body, timeout=60, trust_env=False)


def test_an_address_is_counted_once(
    launch: Callable[..., AppServer], postgres: Callable[[str], str], tmp_path: Path
) -> None:
    with running_redis(tmp_path) as (redis, process):
        settings = {
            "engines": "0",
            "database_url": postgres("rates"),
            "rates_url": redis,
            "max_shares_per_minute": "2",
        }
        one, other = (launch(data_dir=tmp_path / name, **settings) for name in ("one", "other"))
        first, second = share(one), share(other)
        assert [first.status_code, second.status_code] == [201, 201]
        for server in (one, other):
            refused = share(server)
            assert refused.status_code == 429
            assert 0 < int(refused.headers["Retry-After"]) <= 60
            for made in (first, second):
                found = httpx.get(f"{server.url}/api/shares/{made.json()['id']}", trust_env=False)
                assert found.status_code == 200
        process.kill()
        process.wait()
        for server in (one, other):  # each counts its own
            assert [share(server).status_code for _ in range(3)] == [201, 201, 429]
            log = server.log.read_text()
            assert "rate limits are not shared: ConnectionError" in log
            assert "127.0.0.1" not in log.partition("rate limits are not shared")[2]
