"""What a schema cannot say: how fields of one request hang together, and with the time of day."""

import re
import urllib.parse

import schemathesis


def number(value):
    """A parameter that is a number, however it is held before it is sent."""
    text = str(value)
    return int(text) if text.isdecimal() else None


@schemathesis.hook
def before_call(context, case, kwargs):
    query = case.query or {}
    if case.path == "/v1/sessions/{id}/context":
        # A reserve leaves something of the budget.
        budget, reserve = number(query.get("budget", 100_000)), number(query.get("reserve"))
        if budget and reserve and budget <= reserve < 100_000_000:
            query["reserve"] = budget - 1
    if case.path == "/v1/sessions/{id}/expand" and isinstance(query.get("id"), str):
        # An id that was answered for a session names nothing to expand.
        if query["id"].startswith("ses_"):
            query["id"] = "1"
        # A range begins before it ends.
        ends = re.fullmatch(r"(?s)(.*#|)(\d+)-#?(\d+)", query["id"])
        if ends and int(ends[2]) > int(ends[3]):
            query["id"] = f"{ends[1]}{ends[3]}-{ends[2]}"
    body = case.body
    if case.method == "POST" and case.path == "/v1/sessions/{id}/messages":
        # A question or an instruction has some content, in whichever field.
        for message in body if isinstance(body, list) else [body]:
            if isinstance(message, dict) and message.get("role") in ("user", "system", "developer"):
                message.setdefault("content", "x")
                message["content"] = message["content"] or "x"
    if not isinstance(body, dict):
        return
    if case.method == "POST" and case.path == "/v1/sessions":
        # A session is not its own parent, and descends from something if it descends.
        if body.get("id") is not None and body.get("id") == body.get("parent_id"):
            body["parent_id"] = None
        if body.get("parent_id") is None and isinstance(body.get("lineage"), str):
            body["lineage"] = None
    # Nor is it its own branch, or what goes on from it.
    branches = ("/v1/sessions/{id}/branch", "/v1/sessions/{id}/split")
    if case.path in branches and body.get("id") is not None:
        # The id in the path may be percent-encoded already.
        own = str(case.path_parameters.get("id"))
        if body["id"] in (own, urllib.parse.unquote(own)):
            body["id"] = None
    # What only memories have is asked of memories.
    if case.path == "/v1/search" and any(body.get(name) for name in ("history", "at", "known_at")):
        kinds = body.get("kinds")
        if isinstance(kinds, list) and "memory" not in kinds:
            kinds.append("memory")
        elif kinds is None:
            body["kinds"] = ["memory"]
    # A token ends, and a pause ends, in the future.
    future = {"/v1/tokens": "expires_at", "/v1/capture/pause": "until"}.get(case.path)
    time = body.get(future)
    if isinstance(time, str) and time[:4].isdigit():
        body[future] = "2999" + time[4:].replace("-02-29", "-02-28")
