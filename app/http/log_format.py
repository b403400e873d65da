"""What the server logs: where something went wrong, and no text of a user.

The message of an exception may repeat what was sent, as a database's or a tokenizer's does. So a
traceback is logged as its files, lines and types, without any message.
"""

import logging
import traceback
from types import TracebackType
from typing import Any

FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"


class PrivateFormatter(logging.Formatter):
    """Formats a record without what its exception says."""

    def format(self, record: logging.LogRecord) -> str:
        """The record, its traceback made anew: another handler may have cached one with texts."""
        record.exc_text = None
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """The line before the traceback; asyncio has further ones, with a task's error in them."""
        if record.name == "asyncio":
            record.message = record.message.partition("\n")[0]
        return super().formatMessage(record)

    def formatException(  # noqa: N802
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        """The traceback of an exception behind those of the ones that it came from."""
        return "\n".join(_told(ei[1]))


def _told(error: BaseException | None) -> list[str]:
    if error is None:
        return []
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    parts = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    frames = "".join(traceback.format_tb(error.__traceback__))
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    return [*_told(before), *(line for part in parts for line in _told(part)), frames + name]


# For logging.config.dictConfig; all loggers of the process end here.
CONFIG: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"private": {"()": PrivateFormatter, "fmt": FORMAT}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "private"}},
    "root": {"handlers": ["stderr"], "level": "WARNING"},
}
