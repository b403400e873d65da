"""Messages between the server and an engine process: one pickle each, then its large buffers.

A reply's numbers are sent from where they are, not copied into the pickle first.
"""

import pickle
from multiprocessing.connection import Connection
from typing import Any

COUNT = 4  # bytes at the start of a message, with the number of buffers that follow it


def encode(message: Any) -> bytes:
    """Encode a message as bytes, including its buffers."""
    return pickle.dumps(message, pickle.HIGHEST_PROTOCOL)


def send(connection: Connection, message: Any) -> None:
    """Send a message. Blocks while the other side does not read."""
    buffers: list[pickle.PickleBuffer] = []
    content = pickle.dumps(message, pickle.HIGHEST_PROTOCOL, buffer_callback=buffers.append)
    connection.send_bytes(len(buffers).to_bytes(COUNT, "little") + content)
    for buffer in buffers:
        connection.send_bytes(buffer.raw())


def receive(connection: Connection) -> Any:
    """Return the next message. Blocks; raises EOFError or OSError if the connection is closed."""
    content = connection.recv_bytes()
    count = int.from_bytes(content[:COUNT], "little")
    buffers = [connection.recv_bytes() for _ in range(count)]
    return pickle.loads(memoryview(content)[COUNT:], buffers=buffers)
