"""Naming the field of an error as it stands in the request."""

from collections.abc import Iterator
from contextlib import contextmanager

from model.errors import InputError


@contextmanager
def within(place: str, but: str | None = None) -> Iterator[None]:
    """Names the field of an InputError as it stands in the request, under `place`.

    A field that begins with `but` stands at the top.
    """
    try:
        yield
    except InputError as error:
        if but and error.field.startswith(but):
            raise
        field = f"{place}.{error.field}".removesuffix(".")
        detail = str(error)
        named = detail.replace(error.field, field, 1) if error.field else f"{field}: {detail}"
        raise InputError(error.kind, field, named, error.excess) from error
