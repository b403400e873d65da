"""Log formats that show where an error occurred and in which request, without any user's text.

The message of an exception, for example of a database or a tokenizer, may repeat user input. A
traceback is therefore logged as files, lines and types, without messages.
"""

import logging
import logging.config
import traceback
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import partial
from types import TracebackType
from typing import Any, Literal

import orjson

from app.settings import Settings

FORMAT = "%(asctime)s %(levelname)s %(name)s%(request)s: %(message)s"

REQUEST_ID: ContextVar[str] = ContextVar("request_id", default="")


class PrivateFormatter(logging.Formatter):
    """Formats a record without the message of its exception."""

    def format(self, record: logging.LogRecord) -> str:
        """Format a record; a traceback cached by another handler may contain texts, so drop it."""
        record.exc_text = None
        identity = REQUEST_ID.get()
        record.request = f" [{identity}]" if identity else ""
        return super().format(record)

    def formatMessage(self, record: logging.LogRecord) -> str:  # noqa: N802
        """Return the line before the traceback; asyncio adds lines with a task's error to it."""
        if record.name == "asyncio":
            record.message = record.message.partition("\n")[0]
        return super().formatMessage(record)

    def formatException(  # noqa: N802
        self,
        ei: tuple[type[BaseException], BaseException, TracebackType | None]
        | tuple[None, None, None],
    ) -> str:
        """Return the traceback of an exception after those of its causes."""
        return "\n".join(_told(ei[1]))


class JsonFormatter(PrivateFormatter):
    """Formats a record as one line of JSON, with its extra data as fields."""

    def format(self, record: logging.LogRecord) -> str:
        """Return one object: time, level, logger, message; request, exception and more if any."""
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
    """Return a configuration for logging.config.dictConfig that covers all loggers of the process.

    With `requests`, each request is logged as one line.
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
        "loggers": {f"{__package__}.request_metrics": {"level": "INFO" if requests else "WARNING"}},
    }


def logging_of(settings: Settings) -> partial[None]:
    """Return a function that configures logging in the process that calls it."""
    return partial(logging.config.dictConfig, config(settings.log, settings.log_requests))
