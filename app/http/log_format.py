"""What the server logs: where something went wrong, in which request, and no text of a user.

The message of an exception may repeat what was sent, as a database's or a tokenizer's does. So a
traceback is logged as its files, lines and types, without any message.
"""

import logging
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal

import orjson

FORMAT = "%(asctime)s %(levelname)s %(name)s%(request)s: %(message)s"

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")


class PrivateFormatter(logging.Formatter):
    """Formats a record without what its exception says."""

    def format(self, record: logging.LogRecord) -> str:
        """The record, its traceback made anew: another handler may have cached one with texts."""
        record.exc_text = None
        identity = REQUEST_ID.get()
        record.request = f" [{identity}]" if identity else ""
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


class JsonFormatter(PrivateFormatter):
    """The same as a line of JSON, with what a record tells beside its message as fields."""

    def format(self, record: logging.LogRecord) -> str:
        """One object: time, level, logger, message; request, exception and more where they are."""
        if record.name == "asyncio":
            record.msg, record.args = record.getMessage().partition("\n")[0], None
        document = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage().strip(),
        }
        if identity := REQUEST_ID.get():
            document["request"] = identity
        if record.exc_info:
            document["exception"] = self.formatException(record.exc_info)
        return orjson.dumps({**document, **getattr(record, "told", {})}).decode()


def _told(error: BaseException | None) -> list[str]:
    if error is None:
        return []
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    parts = error.exceptions if isinstance(error, BaseExceptionGroup) else ()
    frames = "".join(traceback.format_tb(error.__traceback__))
    name = f"{type(error).__module__}.{type(error).__qualname__}"
    return [*_told(before), *(line for part in parts for line in _told(part)), frames + name]


def config(form: Literal["text", "json"], requests: bool) -> dict[str, Any]:
    """For logging.config.dictConfig: all loggers of the process end here.

    With `requests`, there is a line for each request.
    """
    formatters = {
        "text": {"()": PrivateFormatter, "fmt": FORMAT},
        "json": {"()": JsonFormatter},
    }
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {form: formatters[form]},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": form}},
        "root": {"handlers": ["stderr"], "level": "WARNING"},
        "loggers": {"app.http.request_log": {"level": "INFO" if requests else "WARNING"}},
    }
