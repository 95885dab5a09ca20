"""What a schema cannot say: how fields of one request hang together, and with the time of day."""

import schemathesis


@schemathesis.hook
def before_call(context, case, kwargs):
    body = case.body
    if not isinstance(body, dict):
        return
    if case.method == "POST" and case.path == "/v1/sessions":
        # A session is not its own parent, and descends from something if it descends.
        if body.get("id") is not None and body.get("id") == body.get("parent_id"):
            body["parent_id"] = None
        if body.get("parent_id") is None and isinstance(body.get("lineage"), str):
            body["lineage"] = None
    # Nor is it its own branch.
    if case.path == "/v1/sessions/{id}/branch" and body.get("id") == case.path_parameters.get("id"):
        body["id"] = None
    # A token ends in the future.
    expires_at = body.get("expires_at")
    if case.path == "/v1/tokens" and isinstance(expires_at, str) and expires_at[:4].isdigit():
        body["expires_at"] = "2999" + expires_at[4:].replace("-02-29", "-02-28")
