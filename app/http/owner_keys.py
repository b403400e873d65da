"""The key of what a client has created: a bearer token, which the reply to its creation has."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Depends
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from app.http.problems import ProblemError


def key_of(thing: str, path: str) -> Callable[[str | None], str]:
    """Return a dependency that reads the key of a `thing`, which ``POST path`` has created.

    It raises a 403 `ProblemError` of the kind ``wrong-{thing}-key`` if a request has none.
    """

    def required(key: Annotated[str | None, Depends(optional_key_of(path))]) -> str:
        if key is None:
            detail = f"Authorization must be Bearer and the {thing}'s key"
            raise ProblemError(403, f"wrong-{thing}-key", detail)
        return key

    return required


def optional_key_of(path: str) -> Callable[[HTTPAuthorizationCredentials | None], str | None]:
    """Return a dependency that reads such a key; None if a request has none."""
    bearer = HTTPBearer(auto_error=False, description=f"From the reply to `POST {path}`.")

    def optional(
        credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(bearer)],
    ) -> str | None:
        return credentials.credentials if credentials else None

    return optional


def problems_of(thing: str) -> dict[str, str]:
    """Describe the problems of reading a stored `thing` by its id, for `replies.problems`."""
    return {
        "_404": f"No such {thing}.",
        "_410": f"The {thing} is damaged.",
        "_422": "The id is too long.",
    }
