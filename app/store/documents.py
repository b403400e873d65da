"""Documents become bytes here, and only if they load again as they were."""

import json
from typing import Any

import orjson
from pydantic import BaseModel

from model.errors import InputError


def dumped(document: Any) -> bytes:
    """Return a document as the JSON that is stored: values of JSON, or a model of pydantic.

    Raises InputError unless it loads again as it is: not for a number that is not finite or has
    more than 64 bits, a text with lone surrogates, or a value outside its model's bounds.
    """
    try:
        if isinstance(document, BaseModel):
            content = document.model_dump_json().encode()
            reads_back = type(document).model_validate_json(content) == document
        else:
            content = orjson.dumps(document)
            reads_back = json.loads(content) == document
    except (TypeError, ValueError):
        reads_back = False
    if not reads_back:
        detail = "this cannot be stored: it would not be read again as it is"
        raise InputError("wrong-type", "", detail)
    return content
