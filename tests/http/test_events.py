"""The stream of changes: told in order, from where one was, and to nobody without a right to it."""

import json


class Stream:
    """One listener; every wait is bounded by the time-out of its socket."""

    def __init__(self, server, path="/v1/events", headers=None):
        self.connection = server.connection(timeout=10)
        self.connection.request("GET", path, headers={"Accept": "text/event-stream", **(headers or {})})
        self.answer = self.connection.getresponse()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def next(self):
        """The next event; comments that show the stream is there are none."""
        event = {}
        while True:
            line = self.answer.readline().decode()
            assert line, "the stream ended"
            line = line.rstrip("\r\n")
            if not line and event:
                return {**event, "data": json.loads(event["data"])}
            name, _, value = line.partition(":")
            if name:
                event[name] = value.strip()


def append(server, session, text):
    return server.post(
        f"/v1/sessions/{session}/messages?create=true", {"role": "user", "content": text}
    )["ids"][0]


def appended(stream):
    """The next event that tells of messages."""
    while True:
        event = stream.next()
        if event["event"] == "appended":
            return event


def test_changes_are_told_as_they_happen_and_again_from_an_id(server):
    with Stream(server) as stream:
        assert stream.answer.status == 200
        assert stream.answer.headers["content-type"].startswith("text/event-stream")
        append(server, "told", "one")
        first = appended(stream)
        assert first["data"]["session_id"] == "told"
        append(server, "told", "two")
        second = appended(stream)
    # Whoever comes back with the id of the first hears of the second.
    with Stream(server, headers={"Last-Event-ID": first["id"]}) as stream:
        again = appended(stream)
        assert (again["id"], again["data"]) == (second["id"], second["data"])


def test_a_dream_is_told_when_it_starts_and_ends(server):
    with Stream(server) as stream:
        ran = server.post("/v1/dreams", {"apply": False})
        told = []
        while len(told) < 2:
            event = stream.next()
            if event["event"] == "dream":
                told.append(event["data"])
    assert {one["subject"]["id"] for one in told} == {ran["dream"]["id"]}
    assert told[-1]["outcome"] == "processed"


def test_what_another_process_appends_is_told(server, home):
    with Stream(server) as stream:
        home.run("append", "by-cli", "--create", "--text", "from the command line")
        assert appended(stream)["data"]["session_id"] == "by-cli"


def test_a_place_that_is_none_is_refused(server):
    for headers, path in (({}, "/v1/events?since=x"), ({"Last-Event-ID": "x"}, "/v1/events")):
        with Stream(server, path, headers) as stream:
            assert stream.answer.status == 422


def test_without_a_token_there_is_no_stream_where_one_is_needed(home):
    with home.serve("--require-token") as server, Stream(server) as stream:
        assert stream.answer.status == 401
