"""Many clients at once: everything acknowledged is there, once, in the order it was acknowledged."""

import json
import threading

CLIENTS = 32
APPENDS = 40


def append_some(server, client, acknowledged):
    """One client on one connection; what it was answered goes into `acknowledged`."""
    connection = server.connection()
    for sent in range(APPENDS):
        body = {"role": "user", "content": f"line {sent} of {client}", "external_id": f"e{sent}"}
        path = f"/v1/sessions/client-{client}/messages?create=true"
        connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            acknowledged.append(("refused", answer.status, text))
            break
        told = json.loads(text)
        acknowledged.append((told["ids"][0], told["duplicates"], body["content"]))
    connection.close()


def all_of(server, path):
    """Every item of a list, page by page."""
    cursor, items = "", []
    while cursor is not None:
        page = server.get(f"{path}{'&' if '?' in path else '?'}limit=200{cursor}")
        items += page["items"]
        cursor = f"&cursor={page['next']}" if page["next"] else None
    return items


def test_what_32_clients_were_told_is_there(server):
    acknowledged = [[] for _ in range(CLIENTS)]
    clients = [
        threading.Thread(target=append_some, args=(server, client, told))
        for client, told in enumerate(acknowledged)
    ]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    seen = set()
    for client, told in enumerate(acknowledged):
        refused = [one for one in told if one[0] == "refused"]
        assert not refused, refused
        assert all(duplicates == 0 for _, duplicates, _ in told)
        kept = all_of(server, f"/v1/sessions/client-{client}/messages")
        assert [(one["id"], one["content"]) for one in kept] == [(i, text) for i, _, text in told]
        seen |= {one["id"] for one in kept}
    total = CLIENTS * APPENDS
    assert len(seen) == total
    assert server.get("/v1/stats")["messages"] == total


def test_the_same_again_is_answered_with_the_same_ids(server):
    batch = [{"role": "user", "content": f"{n}", "external_id": f"{n}"} for n in range(5)]
    first = server.post("/v1/sessions/again/messages?create=true", batch)
    assert first["duplicates"] == 0
    second = server.post("/v1/sessions/again/messages", batch)
    assert second == {"ids": first["ids"], "duplicates": 5}
