"""The address at which others on the local network reach this machine."""

import socket
from ipaddress import ip_address

ANY = ("0.0.0.0", "::")  # addresses to listen on for connections from everywhere


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
