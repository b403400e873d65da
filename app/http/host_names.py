"""The address at which others on the local network reach this machine.

The host names that the server accepts; links are built from the name in the request.

Another site can point its own host name at this server's address (DNS rebinding), so that its pages
can read the replies. The server therefore accepts only IP addresses, names that no one can own on
the internet, and the configured names.
"""

import re
import socket
from collections.abc import Collection
from ipaddress import ip_address

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from app.http.problems import ProblemError

ANY_ADDRESS = ("0.0.0.0", "::")  # addresses to listen on for connections from everywhere


def lan_address() -> str | None:
    """Return this machine's address as others see it; None without a network. Sends nothing."""
    for anywhere in ("192.0.2.1", "224.0.0.1"):  # the default route, or else any network
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.connect((anywhere, 9))
            except OSError:
                continue
            address: str = probe.getsockname()[0]
            if not address.startswith("127."):
                return address
    return None


def is_loopback(host: str) -> bool:
    """Return whether a host name or address refers to this machine."""
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


ANY = "*"
# For local networks: RFC 6762, RFC 8375 and RFC 6761; .internal (ICANN); .lan (common in routers).
LOCAL_SUFFIXES = (".local", ".home.arpa", ".localhost", ".internal", ".lan")
# Probes request these under any host name; the replies contain no host name.
PROBES = {"/api/health", "/api/ready", "/metrics"}

LONGEST = 260  # characters of a Host: a name of 253 (RFC 1035), a dot, and a port
HOST = re.compile(r"(\[[0-9a-f:.]+\]|[a-z0-9_.-]+?)\.?(?::\d{1,5})?", re.IGNORECASE)


class AllowedHosts:
    """Answers 421 to a request for a host that is not this server's.

    `names` are hosts, or `*.example.org` for all subdomains; `*` is any host. With `local`,
    addresses and names of a local network are accepted too.
    """

    def __init__(self, app: ASGIApp, names: Collection[str], local: bool) -> None:
        self.app = app
        lower = {name.lower() for name in names}
        self.domains = tuple(name[1:] for name in lower if name.startswith("*."))
        self.names = lower
        self.local = local

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["path"] not in PROBES and not self._is_ours(scope):
            detail = "HEADLIGHT_ALLOWED_HOSTS lists the host names that this server accepts"
            await ProblemError(421, "unknown-host", detail).response()(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _is_ours(self, scope: Scope) -> bool:
        sent = Headers(scope=scope).getlist("host")
        if len(sent) != 1 or len(sent[0]) > LONGEST:
            return False
        match = HOST.fullmatch(sent[0])
        return match is not None and self.answers_to(match[1].lower())

    def answers_to(self, host: str) -> bool:
        """Return whether a host, in lower case and without its port, is this server's."""
        if not self.names.isdisjoint((ANY, host)) or host.endswith(self.domains):
            return True
        return self.local and is_local(host)


def is_local(host: str) -> bool:
    """Return whether a host is an IP address, or a name that exists only in local networks."""
    try:
        ip_address(host.strip("[]"))
    except ValueError:
        return "." not in host or host.endswith(LOCAL_SUFFIXES)
    return True
