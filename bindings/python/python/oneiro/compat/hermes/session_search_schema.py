"""How session_search is described to a model."""

from __future__ import annotations

from typing import Any

SESSION_SEARCH_SCHEMA: dict[str, Any] = {
    "name": "session_search",
    "description": (
        "Look into past sessions of this agent. Four ways to call it:\n"
        "1. query: finds the sessions that match best, one result per conversation, each with the "
        "match, what was said around it, and how the session began and ended.\n"
        "2. session_id and around_message_id: shows what was said around that message; pass the "
        "first or last id shown to go on in either direction.\n"
        "3. session_id: reads a session, a long one from both ends.\n"
        "4. nothing: lists what was active lately.\n"
        'All words of a query must occur; OR, NOT, "phrases" and prefix* work. It knows what was '
        "said, not what is so now: look at the source itself where there is one."
    ),
    "parameters": {
        "type": "object",
        "properties": {
            "query": {"type": "string", "description": "What to look for."},
            "limit": {
                "type": "integer",
                "description": "Sessions to show, 1 to 10.",
                "default": 3,
            },
            "sort": {
                "type": "string",
                "enum": ["newest", "oldest"],
                "description": "Order by time; best first when left out.",
            },
            "session_id": {"type": "string", "description": "The session to read or scroll in."},
            "around_message_id": {
                "type": "integer",
                "description": "The message to show the surroundings of.",
            },
            "window": {
                "type": "integer",
                "description": "Messages to each side of it, 1 to 20.",
                "default": 5,
            },
            "role_filter": {
                "type": "string",
                "description": "Roles to look at, with commas between; user,assistant if left out.",
            },
            "profile": {
                "type": "string",
                "description": "Another profile to read from; also as profile/id in session_id.",
            },
        },
        "required": [],
    },
}
