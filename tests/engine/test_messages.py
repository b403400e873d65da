"""Messages between the server and an engine process."""

import pickle
from multiprocessing import Pipe

import numpy as np

from app.engine.child_process import encode, receive, send
from app.engine.engine_process import Ended
from app.engine.jobs import Encoded
from app.engine.model_thread import Outcome
from app.engine.reply_formats import Reply
from app.http.file_formats import SAFETENSORS


def test_numbers_are_sent_from_where_they_are_and_arrive_as_one_file() -> None:
    arrays = {"a": np.arange(6.0).reshape(2, 3), "b": np.zeros((0, 4), np.float32)}
    reply = Reply({"tensors": {}}, arrays)
    pieces = reply.encode(SAFETENSORS, 100)
    assert any(np.shares_memory(np.frombuffer(one, np.uint8), arrays["a"]) for one in pieces)
    message = Ended(3, [Outcome(Encoded(pieces, reply.values, frozenset({"p"}))), Outcome(None)])
    here, there = Pipe()
    send(here, message)
    send(here, None)
    arrived = receive(there).outcomes[0].result
    assert arrived.pieces == (reply.safetensors(),) == (arrived.content,)
    assert (arrived.values, arrived.passes) == (6, {"p"})
    assert len(arrived) == len(arrived.content) == len(message.outcomes[0].result)
    assert receive(there) is None
    assert pickle.loads(encode(message)).outcomes[0].result.content == arrived.content
    np.testing.assert_array_equal(Reply.parse(arrived.content).arrays["a"], arrays["a"])
