"""A model behind a handle: summaries in the background are written by it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import oneiro
import pytest
from conftest import Place


class Model(BaseHTTPRequestHandler):
    """Answers every request with words of what it was sent."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        words = body["messages"][1]["content"].split()
        text = " ".join(dict.fromkeys(words))[:400]
        message = {"role": "assistant", "content": text}
        answer = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def model() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1"
    server.shutdown()
    thread.join()
    server.server_close()


def test_the_background_has_the_model_write_summaries(place: Place, model: str) -> None:
    with place.open(llm=oneiro.ModelServer(model, "m", key="sk-secret")) as memory:
        memory.set_setting("leaf_chunk_tokens", 1_000)
        turns = [
            {"role": role, "content": f"turn {n}: the kayak of Maria is at pier {n * 7}. " * 12}
            for n in range(60)
            for role in ("user", "assistant")
        ]
        memory.append("s", turns, create={})
        tokens = memory.context("s", budget=1_000_000).tokens
        memory.context("s", budget=tokens * 100 // 80)
        end = time.monotonic() + 120
        while not any(node.level == "model" for node in memory.summaries("s")):
            assert time.monotonic() < end, [node.level for node in memory.summaries("s")]
            time.sleep(0.05)


def test_a_server_without_an_address_is_refused(place: Place) -> None:
    with pytest.raises(oneiro.InvalidError, match=r"llm_url|base_url"):
        place.open(llm=oneiro.ModelServer("", "m"))
    assert "sk-secret" not in repr(oneiro.ModelServer("http://localhost/v1", "m", key="sk-secret"))
