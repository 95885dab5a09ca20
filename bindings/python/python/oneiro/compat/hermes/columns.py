"""The columns of hermes's tables in both generations, and the names we keep beside them."""

from __future__ import annotations

from typing import Any

SEED_SESSION_COLUMNS = (
    "id",
    "source",
    "user_id",
    "model",
    "model_config",
    "system_prompt",
    "parent_session_id",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "tool_call_count",
    "input_tokens",
    "output_tokens",
)

SESSION_COLUMNS = (
    "id",
    "source",
    "user_id",
    "session_key",
    "chat_id",
    "chat_type",
    "thread_id",
    "display_name",
    "origin_json",
    "expiry_finalized",
    "model",
    "model_config",
    "system_prompt",
    "parent_session_id",
    "started_at",
    "ended_at",
    "end_reason",
    "message_count",
    "tool_call_count",
    "input_tokens",
    "output_tokens",
    "cache_read_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "cwd",
    "git_branch",
    "git_repo_root",
    "billing_provider",
    "billing_base_url",
    "billing_mode",
    "estimated_cost_usd",
    "actual_cost_usd",
    "cost_status",
    "cost_source",
    "pricing_version",
    "title",
    "api_call_count",
    "handoff_state",
    "handoff_platform",
    "handoff_error",
    "compression_failure_cooldown_until",
    "compression_failure_error",
    "compression_fallback_streak",
    "profile_name",
    "rewind_count",
    "archived",
)

SEED_MESSAGE_COLUMNS = (
    "id",
    "session_id",
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "timestamp",
    "token_count",
)

MESSAGE_COLUMNS = (
    "id",
    "session_id",
    "role",
    "content",
    "tool_call_id",
    "tool_calls",
    "tool_name",
    "effect_disposition",
    "timestamp",
    "token_count",
    "finish_reason",
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "codex_reasoning_items",
    "codex_message_items",
    "platform_message_id",
    "observed",
    "active",
    "compacted",
    "api_content",
)

# Columns that are kept in the metadata of a session, with what hermes answers when they are unset.
METADATA_COLUMNS: dict[str, Any] = {
    "session_key": None,
    "chat_id": None,
    "chat_type": None,
    "thread_id": None,
    "display_name": None,
    "origin_json": None,
    "expiry_finalized": 0,
    "git_branch": None,
    "git_repo_root": None,
    "billing_provider": None,
    "billing_base_url": None,
    "billing_mode": None,
    "cost_status": None,
    "cost_source": None,
    "pricing_version": None,
    "handoff_state": None,
    "handoff_platform": None,
    "handoff_error": None,
    "compression_failure_cooldown_until": None,
    "compression_failure_error": None,
    "compression_fallback_streak": 0,
    "profile_name": None,
}

# Keys of the metadata which are ours and no column of hermes.
ESTIMATED_COST_SET = "estimated_cost_set"
ACTUAL_COST_SET = "actual_cost_set"
REPLACED_UNTIL = "replaced_until"
REPLACED_ALL_UNTIL = "replaced_all_until"
REPLACED_REWINDS = "replaced_rewinds"
END_REASON_UNSET = "end_reason_unset"
EXACT_MODEL_CONFIG = "model_config"

CONTENT_JSON_PREFIX = "\x00json:"

# Columns whose JSON is kept parsed and answered as text.
JSON_MESSAGE_COLUMNS = ("reasoning_details", "codex_reasoning_items", "codex_message_items")
