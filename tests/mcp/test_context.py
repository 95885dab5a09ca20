"""Lossless context as a real client of MCP sees it: windows, the exact words behind them, resources."""

import json

import pytest
from mcp import MCPError
from test_mcp import text, tokens, user

pytestmark = pytest.mark.anyio


def talk(word, messages=300):
    """Enough about a word to be compacted."""
    return [
        {
            "role": ["user", "assistant"][number % 2],
            "content": f"Number {number}: the {word} plan for office {number} costs {number * 7 + 3} euros, "
            f"and Maria has written it into plans/{word}_{number}.md so that nobody forgets it.",
        }
        for number in range(messages)
    ]


async def tell(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    return result


async def read_all(client, **arguments):
    """Every page, with the cursor and the offset of the one before."""
    pages = []
    while True:
        page = (await tell(client, "session_expand", **arguments)).structured_content
        pages.append(page)
        place = {name: page[name] for name in ("cursor", "offset") if name in page}
        if not place:
            return pages
        arguments = {name: value for name, value in arguments.items() if name not in ("cursor", "offset")} | place
        assert len(pages) < 2000, "no end"


def put_together(pages):
    """The text of each message, from its pieces."""
    found = {}
    for message in (message for page in pages for message in page["messages"]):
        assert len(found.get(message["id"], "")) == message.get("offset", 0)
        found[message["id"]] = found.get(message["id"], "") + message["text"]
    return found


async def test_the_words_behind_a_window_come_back(store, connect):
    said = dict(zip(store.append("long", *talk("kayak")), talk("kayak"), strict=True))
    async with connect() as client:
        window = await tell(client, "memory_context", session="long", budget=6000)
        told = window.structured_content
        assert told["tokens"] <= told["budget"] == 6000
        assert told["summaries"], "nothing was compacted"
        assert "Number 299:" in text(window) and "Number 299:" in told["text"]
        most = 0
        for summary in told["summaries"]:
            pages = await read_all(client, session="long", id=summary, tokens=500)
            assert pages[0]["summary"]["id"] == summary
            most = max(most, len(pages))
            for message, content in put_together(pages).items():
                assert content == said.pop(message)["content"]
        assert most > 1, "no summary had more than a page"
        # What is neither in a summary nor in the window is named by the window.
        omitted = told["omitted"]
        if omitted["messages"]:
            pages = await read_all(client, session="long", id=f"{omitted['first']}-{omitted['last']}", tokens=20000)
            for message in put_together(pages):
                said.pop(message, None)
        assert all(message["content"][:20] in told["text"] for message in said.values())


async def test_a_long_message_is_read_byte_for_byte(store, connect):
    whole = ("tea “naïve” 漢字 🦀 \\ \" \t\r\n\u202e" * 3000)[:50_000]
    (message,) = store.append("s", user(whole))
    async with connect() as client:
        for budget in (2000, 4000, 20000):
            pages = await read_all(client, session="s", id=message, tokens=budget)
            assert len(pages) > 1
            assert put_together(pages)[message].encode() == whole.encode()
            for page in pages:
                assert tokens(json.dumps(page, ensure_ascii=False, separators=(",", ":"))) <= budget
        shown = await tell(client, "session_expand", session="s", id=message)
        assert tokens(text(shown)) <= 4000
        assert f"offset={shown.structured_content['offset']}" in shown.structured_content["next"][0]


async def test_other_conversations_are_refused(store, connect):
    theirs = store.append("theirs", *talk("secret"))
    store.append("ours", user("tea"))
    async with connect() as client:
        window = await tell(client, "memory_context", session="theirs", budget=6000)
        summary = window.structured_content["summaries"][0]
        for what in (summary, theirs[0], f"{theirs[0]}-{theirs[2]}"):
            refused = await client.call_tool("session_expand", {"session": "ours", "id": what})
            assert refused.is_error and "not_found" in text(refused), what
            assert "plan for office" not in text(refused)
            alone = await client.call_tool("session_expand", {"id": what})
            assert alone.is_error and "anywhere=true" in text(alone)
            anywhere = await tell(client, "session_expand", id=what, anywhere=True)
            assert anywhere.structured_content["messages"][0]["session_id"] == "theirs"
        found = await tell(client, "session_expand", session="ours", grep="secret")
        assert found.structured_content["hits"] == []
        found = await tell(client, "session_expand", session="theirs", grep="/secret_[0-9]+/")
        assert {type(hit["id"]) for hit in found.structured_content["hits"]} == {int, str}
        store.run("config", "set", "other_sessions", "refuse")
        refused = await client.call_tool("session_expand", {"id": summary, "anywhere": True})
        assert refused.is_error and "forbidden" in text(refused)


async def test_summaries_are_resources(store, connect):
    store.append("long", *talk("kayak"))
    async with connect() as client:
        assert (await client.list_resources()).resources == []
        window = (await tell(client, "memory_context", session="long", budget=6000)).structured_content
        listed = {str(resource.uri): resource for resource in (await client.list_resources()).resources}
        for summary in window["summaries"]:
            resource = listed[f"oneiro://summary/{summary}"]
            assert resource.name.endswith(" messages")
            (content,) = (await client.read_resource(resource.uri)).contents
            assert content.mime_type == "text/markdown"
            assert content.text.startswith(f"# {resource.name}\n")
            assert "kayak" in content.text
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "oneiro://summary/{id}"
        with pytest.raises(MCPError) as missing:
            await client.read_resource("oneiro://summary/sum_nosuch")
        assert missing.value.error.code in (-32002, -32602)


async def test_the_list_is_small(store, connect):
    store.append("s", user("tea"))
    async with connect() as client:
        tools = (await client.list_tools()).tools
        assert {"session_search", "session_expand", "memory_context"} <= {tool.name for tool in tools}
        assert len(tools) <= 10
        shown = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
        assert tokens(json.dumps(shown, separators=(",", ":"))) < 3500


async def test_a_session_is_condensed_around_a_query(store, connect):
    said = talk("kayak", 40)
    said[17] = user("The zeppelin lands at noon on the tower of the old brewery.")
    store.append("long", *said)
    async with connect() as client:
        found = await tell(client, "session_search", query="zeppelin", summarise=True)
        assert "zeppelin" in found.structured_content["sessions"][0]["digest"]
        assert "in short: " in text(found)
