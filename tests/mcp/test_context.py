"""Lossless context as a real client of MCP sees it: windows, the exact words behind them, resources."""

import json
import re

import pytest
from mcp import Client, MCPError
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


async def call(client, tool, **arguments):
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, text(result)
    return result


async def read_all(client, **arguments):
    """Every page, each with the cursor and the offset of the one before."""
    pages = []
    while True:
        page = await call(client, "session_expand", **arguments)
        pages.append(page)
        fields = page.structured_content
        place = {name: fields[name] for name in ("cursor", "offset") if name in fields}
        if not place:
            return pages
        arguments = {name: value for name, value in arguments.items() if name not in ("cursor", "offset")} | place
        assert len(pages) < 2000, "no end"


def join_pieces(pages):
    """The text of each message, from its pieces; every one is on one line."""
    found = {}
    for page in pages:
        lines = re.findall(r"^  id (\d+) \S+ \S+ [^:]*: (.*)$", text(page), re.MULTILINE)
        messages = page.structured_content["messages"]
        assert [int(id) for id, _ in lines] == [message["id"] for message in messages]
        for message, (_, piece) in zip(messages, lines, strict=True):
            assert len(found.get(message["id"], "")) == message.get("offset", 0)
            found[message["id"]] = found.get(message["id"], "") + piece
    return found


async def test_the_words_behind_a_window_come_back(store, connect):
    said = dict(zip(store.append("long", *talk("kayak")), talk("kayak"), strict=True))
    async with connect() as client:
        window = await call(client, "memory_context", session="long", budget=6000)
        fields = window.structured_content
        assert fields["tokens"] <= fields["budget"] == 6000
        assert fields["summaries"], "nothing was compacted"
        assert "Number 299:" in text(window) and "Number 299:" not in json.dumps(fields)
        most = 0
        for summary in fields["summaries"]:
            pages = await read_all(client, session="long", id=summary, tokens=500)
            assert pages[0].structured_content["summary"]["id"] == summary
            most = max(most, len(pages))
            for message, content in join_pieces(pages).items():
                assert content == said.pop(message)["content"]
        assert most > 1, "no summary had more than a page"
        # What is neither in a summary nor in the window is named by the window.
        omitted = fields["omitted"]
        if omitted["messages"]:
            pages = await read_all(client, session="long", id=f"{omitted['first']}-{omitted['last']}", tokens=20000)
            for message in join_pieces(pages):
                said.pop(message, None)
        assert all(message["content"][:20] in text(window) for message in said.values())


async def test_a_long_message_is_read_byte_for_byte(store, connect):
    whole = ("tea “naïve” 漢字 🦀 \\ \" \t\r\n\u202e" * 3000)[:50_000]
    (message,) = store.append("s", user(whole))
    async with connect() as client:
        for budget in (2000, 4000, 20000):
            pages = await read_all(client, session="s", id=message, tokens=budget, raw=True)
            assert len(pages) > 1
            assert json.loads(join_pieces(pages)[message])["content"].encode() == whole.encode()
            for page in pages:
                assert tokens(text(page)) <= budget
        shown = await call(client, "session_expand", session="s", id=message)
        assert tokens(text(shown)) <= 4000
        assert f"offset={shown.structured_content['offset']})" in text(shown)


async def test_other_conversations_are_refused(store, connect):
    theirs = store.append("theirs", *talk("secret"))
    store.append("ours", user("tea"))
    async with connect() as client:
        window = await call(client, "memory_context", session="theirs", budget=6000)
        summary = window.structured_content["summaries"][0]
        for what in (summary, theirs[0], f"{theirs[0]}-{theirs[2]}"):
            refused = await client.call_tool("session_expand", {"session": "ours", "id": what})
            assert refused.is_error and "not_found" in text(refused), what
            assert "plan for office" not in text(refused)
            alone = await client.call_tool("session_expand", {"id": what})
            assert alone.is_error and "anywhere=true" in text(alone)
            anywhere = await call(client, "session_expand", id=what, anywhere=True)
            assert anywhere.structured_content["messages"][0]["session_id"] == "theirs"
        found = await call(client, "session_expand", session="ours", grep="secret")
        assert found.structured_content["hits"] == []
        found = await call(client, "session_expand", session="theirs", grep="/secret_[0-9]+/")
        assert {type(hit["id"]) for hit in found.structured_content["hits"]} == {int, str}
        store.run("config", "set", "other_sessions", "refuse")
        refused = await client.call_tool("session_expand", {"id": summary, "anywhere": True})
        assert refused.is_error and "forbidden" in text(refused)


async def test_summaries_are_resources(store, connect):
    store.append("long", *talk("kayak"))
    async with connect() as client:
        assert (await client.list_resources()).resources == []
        window = (await call(client, "memory_context", session="long", budget=6000)).structured_content
        listed = {str(resource.uri): resource for resource in (await client.list_resources()).resources}
        for summary in window["summaries"]:
            resource = listed[f"oneiro://summary/{summary}"]
            assert resource.name.endswith(" messages")
            (content,) = (await client.read_resource(resource.uri)).contents
            assert content.mime_type == "text/markdown"
            assert content.text.startswith(f"# {resource.name}\n")
            assert "kayak" in content.text
        templates = (await client.list_resource_templates()).resource_templates
        assert {one.uri_template for one in templates} == {"oneiro://summary/{id}", "oneiro://note/{name}"}
        with pytest.raises(MCPError) as missing:
            await client.read_resource("oneiro://summary/sum_nosuch")
        assert missing.value.error.code in (-32002, -32602)


async def test_the_list_is_small(store, connect):
    store.append("s", user("tea"))
    async with connect() as client:
        tools = (await client.list_tools()).tools
        assert {"session_search", "session_expand", "memory_context"} <= {tool.name for tool in tools}
        assert len(tools) <= 11
        assert "memory_dream" not in {tool.name for tool in tools}, "a tool for hosts"
        shown = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools]
        assert tokens(json.dumps(shown, separators=(",", ":"))) < 3000


async def test_the_profile_of_hosts_lists_the_tools_for_hosts_too(store, place):
    store.append("s", user("tea"))
    host = f"{place}?profile=host" if isinstance(place, str) else store.stdio("--profile", "host")
    listed = []
    for where in (place, host):
        async with Client(where, read_timeout_seconds=30) as client:
            listed.append({tool.name for tool in (await client.list_tools()).tools})
            # A profile is what is shown, not what is allowed.
            await call(client, "memory_dream")
    assert listed[1] - listed[0] == {"memory_dream"}


async def test_a_host_runs_lists_shows_and_explains_dreams(store, connect):
    store.append("s", user("I'm allergic to peanuts."))
    async with connect() as client:
        ran = (await call(client, "memory_dream")).structured_content
        assert ran["outcome"] == "processed"
        listed = await call(client, "memory_dream", action="list")
        assert listed.structured_content["ids"][0] == ran["dream_id"]
        assert "(dry run)" in text(listed)
        shown = await call(client, "memory_dream", action="show", id=ran["dream_id"])
        assert shown.structured_content["counts"] == ran["counts"]
        for action in ("show", "explain"):
            missing = await client.call_tool("memory_dream", {"action": action, "id": "zeppelin"})
            assert missing.is_error, text(missing)


async def test_a_session_is_condensed_around_a_query(store, connect):
    said = talk("kayak", 40)
    said[17] = user("The zeppelin lands at noon on the tower of the old brewery.")
    store.append("long", *said)
    async with connect() as client:
        found = await call(client, "session_search", query="zeppelin", summarise=True)
        assert re.search(r"in short: .*zeppelin", text(found))
