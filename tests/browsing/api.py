"""The API, asked for what a page should show."""

from typing import Any

import httpx
import numpy as np
from numpy.typing import NDArray

# One client, since each would read all certificates; no connection outlives a server.
client = httpx.Client(
    timeout=600, trust_env=False, verify=False, limits=httpx.Limits(max_keepalive_connections=0)
)


def trace(url: str, *select: str, **request: Any) -> dict[str, Any]:
    """Return the document of a run."""
    reply = client.post(f"{url}/api/trace", json={"select": select, **request})
    document: dict[str, Any] = reply.raise_for_status().json()
    return document


def arrays(document: dict[str, Any]) -> dict[str, NDArray[Any]]:
    """Return the tensors of a document."""
    return {name: np.array(it["data"]) for name, it in document["tensors"].items()}


def tensors(url: str, *select: str, **request: Any) -> dict[str, NDArray[Any]]:
    """Return the tensors of a run, those that are named first and in that order."""
    found = arrays(trace(url, *select, **request))
    return {name: found[name] for name in select if name in found} | found


def shared(url: str, state: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Create a share; return what the API says about it."""
    reply = client.post(f"{url}/api/shares", json={"state": state, **more})
    made: dict[str, Any] = reply.raise_for_status().json()
    return made
