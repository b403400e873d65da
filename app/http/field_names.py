"""Paths into the request, in the fields of errors."""

from collections.abc import Iterator
from contextlib import contextmanager

from model.errors import InputError


@contextmanager
def within(place: str, but: str | None = None) -> Iterator[None]:
    """Prefix the field of an InputError with `place`, its path in the request.

    A field that begins with `but` is at the top level and keeps its name.
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
