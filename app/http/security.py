"""Security headers of every reply.

Strict-Transport-Security is only for servers on the internet: a class on a local network uses plain
http. What only the sender of a request may see stays out of caches.
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

CONTENT_SECURITY_POLICY = "; ".join(
    [
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' data: blob:",  # plotly.js draws heatmaps as blobs
        "font-src 'self'",
        "connect-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'self'",
    ]
)
NOBODY, ANYONE = "frame-ancestors 'none'", "frame-ancestors *"

HEADERS = {
    "Content-Security-Policy": f"{CONTENT_SECURITY_POLICY}; {NOBODY}",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}

HSTS = "max-age=31536000"

# Added to replies that other sites may embed: a picture, a page in a frame.
FOR_OTHERS = {"Cross-Origin-Resource-Policy": "cross-origin"}
FRAMED = {**FOR_OTHERS, "Content-Security-Policy": f"{CONTENT_SECURITY_POLICY}; {ANYONE}"}


KEYS = {"edit-key", "run-key", "model-key", "corpus-key"}  # headers with the key of something


class SecurityHeaders:
    """Adds `HEADERS` to every reply, except those that its route has set itself.

    Unless its route says otherwise, no cache keeps the reply to a request that changes something,
    which may have a key, or that has a key itself.

    With `hsts`, a reply over https tells browsers to use only https for this host for a year.
    """

    def __init__(self, app: ASGIApp, hsts: bool = False) -> None:
        self.app = app
        self.hsts = hsts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                _secure(headers)
                if _is_private(scope):
                    headers.setdefault("Cache-Control", "no-store")
                if self.hsts and scope["scheme"] == "https":
                    headers["Strict-Transport-Security"] = HSTS
            await send(message)

        await self.app(scope, receive, send_secured if scope["type"] == "http" else send)


def _is_private(scope: Scope) -> bool:
    headers = Headers(scope=scope)
    scheme = headers.get("authorization", "").partition(" ")[0].lower()
    has_key = scheme == "bearer" or not KEYS.isdisjoint(headers)
    return has_key or scope["method"] not in ("GET", "HEAD")


def _secure(headers: MutableHeaders) -> None:
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    if headers["Content-Security-Policy"].endswith(ANYONE):
        del headers["X-Frame-Options"]
