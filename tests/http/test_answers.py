"""How answers travel: compressed when asked for, with a request id, closed to other sites."""

import gzip
import json

SEARCH = {"query": "birthday", "limit": 20}


def search(server, encoding):
    headers = {"Content-Type": "application/json", "Accept-Encoding": encoding}
    status, headers, body = server.ask("POST", "/v1/search", json.dumps(SEARCH), headers)
    assert status == 200, body
    return headers, body


def test_gzip_when_asked_for_and_only_then(demo):
    headers, packed = search(demo, "gzip")
    assert headers["content-encoding"] == "gzip"
    assert "accept-encoding" in headers["vary"].lower()
    plain_headers, plain = search(demo, "identity")
    assert plain_headers["content-encoding"] is None
    assert json.loads(gzip.decompress(packed))["hits"] == json.loads(plain)["hits"]
    assert json.loads(plain)["hits"], "the demonstration has birthdays"
    assert len(packed) < len(plain)


def test_every_answer_has_a_request_id_and_strict_headers(demo):
    for path in ("/healthz", "/v1/stats", "/v1/sessions/not-there", "/nowhere"):
        _, headers, _ = demo.ask("GET", path)
        assert headers["x-request-id"]
        assert headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in headers["content-security-policy"]
        assert headers["access-control-allow-origin"] is None
    _, headers, _ = demo.ask("GET", "/healthz", headers={"X-Request-Id": "mine-7"})
    assert headers["x-request-id"] == "mine-7"


def test_problems_are_problems(demo):
    status, headers, body = demo.ask("GET", "/v1/sessions/not-there")
    problem = json.loads(body)
    assert status == problem["status"] == 404
    assert headers["content-type"] == "application/problem+json"
    assert problem["kind"] == "not_found"


def test_other_sites_are_turned_away(demo):
    for headers in ({"Host": "evil.example"}, {"Origin": "https://evil.example"}):
        status, _, _ = demo.ask("GET", "/v1/stats", headers=headers)
        assert status == 403, headers


def test_an_export_can_be_imported(demo, home, tmp_path):
    status, headers, body = demo.ask("GET", "/v1/export")
    assert status == 200
    assert headers["content-type"].startswith("application/x-ndjson")
    file = tmp_path / "all.jsonl"
    file.write_bytes(body)
    home.run("session", "import", str(file), "--space", "copy")
    theirs = home.json("stats", "--space", "copy")
    assert theirs["messages"] == demo.get("/v1/stats")["messages"]
