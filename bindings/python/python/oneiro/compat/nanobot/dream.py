"""What nanobot's Dream asks of the memory: its prompt, its tools, and what it may say it did."""

from __future__ import annotations

import importlib
from datetime import datetime
from pathlib import Path
from typing import Any

from oneiro.compat.files import UnreadableFileError, read_text

from .journal import Journal
from .text import truncate_text
from .version_store import VersionStore

__all__ = ["Dream"]

#: Most characters of a prompt that a workspace has of its own.
WORKSPACE_PROMPT_MAX_CHARS = 32_000

#: Most characters of one entry of the journal in the prompt.
PROMPT_ENTRY_CHARS = 1000

DEFAULT_PROMPT = """\
You are running Dream: bring the memory files up to date with the history below.

Each fact belongs in one file.
- SOUL.md: how the agent behaves, its limits, how it uses tools.
- USER.md: who the user is, habits, preferences, language and tone.
- memory/MEMORY.md: goals, architecture, decisions, infrastructure of the user's projects.
- skills/<name>/SKILL.md: steps that were needed at least twice, with their commands.

Entries may carry a mark; never write the mark into a file.
- [skip]: leave it out.
- [correction]: replace the older fact where it stands.
- [permanent]: keep it, unless it is corrected.
- [durable]: keep it while it is true.
- [ephemeral]: keep it while it is of use, then remove it.

Write short, checkable facts. Merge what says the same. Remove what is resolved, superseded or \
easily looked up. Change single lines rather than whole sections, and read a file before you edit \
it. Report only changes that a tool has confirmed; if nothing needs to change, change nothing."""


class Dream(Journal):
    """The part of the memory that Dream uses; MemoryStore has it."""

    _DREAM_CONTENT_PATHS = ("SOUL.md", "USER.md", "memory/MEMORY.md")

    workspace: Path
    memory_file: Path
    soul_file: Path
    user_file: Path

    @property
    def git(self) -> VersionStore:
        """The versions of the files."""
        raise NotImplementedError

    # --- its prompt ---------------------------------------------------------------------------

    @property
    def dream_prompt_file(self) -> Path:
        """The file with which a workspace replaces the prompt."""
        return self.workspace / "prompts" / "dream.md"

    def has_dream_prompt_override(self) -> bool:
        """Whether the workspace has a prompt of its own."""
        return self._own_prompt() is not None

    @staticmethod
    def default_dream_prompt() -> str:
        """The prompt of a workspace that has none of its own."""
        return DEFAULT_PROMPT

    def _own_prompt(self) -> str | None:
        try:
            text = (read_text(self.dream_prompt_file) or "").rstrip()
        except UnreadableFileError as error:
            self._warn_once(
                "_dream_prompt_unreadable_logged", "%s; the default prompt is used", error
            )
            return None
        if len(text) > WORKSPACE_PROMPT_MAX_CHARS:
            self._warn_once(
                "_dream_prompt_oversize_logged",
                "%s is cut to %d",
                self.dream_prompt_file,
                WORKSPACE_PROMPT_MAX_CHARS,
            )
        return truncate_text(text, WORKSPACE_PROMPT_MAX_CHARS) or None

    def _dream_template(self) -> str:
        """The prompt without entries: the workspace's own, or the default."""
        return self._own_prompt() or self.default_dream_prompt()

    def build_dream_prompt(self, *, max_entries: int = 20) -> tuple[str, int] | None:
        """The prompt for the oldest entries that were not read yet, and the cursor of the last of
        them; None if there are none."""
        entries = self.read_unprocessed_history(self.get_last_dream_cursor())[:max_entries]
        if not entries:
            return None
        history = "\n".join(
            f"[{entry['timestamp']}] {truncate_text(entry['content'], PROMPT_ENTRY_CHARS)}"
            for entry in entries
        )
        prompt = f"{self._dream_template()}\n\n## Conversation History\n{history}"
        return prompt, entries[-1]["cursor"]

    # --- its run ------------------------------------------------------------------------------

    def build_dream_tools(self) -> Any:
        """The tools of a run, of nanobot's own classes: reading in the workspace, writing to the
        three files and to skills."""

        def host(name: str) -> Any:
            return importlib.import_module(f"nanobot.agent.{name}")

        files = host("tools.filesystem")
        builtin = host("skills").BUILTIN_SKILLS_DIR
        skills = self.workspace / "skills"
        skills.mkdir(parents=True, exist_ok=True)
        shared = {"workspace": self.workspace, "file_states": host("tools.file_state").FileStates()}
        reads = {
            "allowed_dir": self.workspace,
            "extra_read_allowed_dirs": [builtin] if builtin.exists() else None,
        }
        writes = {
            "allowed_dir": skills,
            "extra_write_allowed_files": [self.memory_file, self.soul_file, self.user_file],
        }
        tools = host("tools.registry").ToolRegistry()
        tools.register(files.ReadFileTool(**shared, **reads))
        patches = host("tools.apply_patch").ApplyPatchTool
        for tool in (files.EditFileTool, patches, files.WriteFileTool):
            tools.register(tool(**shared, **writes))
        return tools

    @staticmethod
    def dream_run_completed(resp: object | None) -> bool:
        """Whether a run came to its end, so that its entries count as read."""
        metadata = getattr(resp, "metadata", None)
        return isinstance(metadata, dict) and metadata.get("_stop_reason") == "completed"

    @staticmethod
    def dream_incompletion_reason(resp: object | None) -> str:
        """Why a run did not come to its end."""
        metadata = getattr(resp, "metadata", None)
        reason = "missing response metadata"
        if isinstance(metadata, dict):
            reason = metadata.get("_stop_reason", "unknown")
        return f"stop_reason: {reason}"

    def dream_content_diff(self) -> str:
        """What of the three files is not committed; empty if nothing."""
        return self.git.summarize_working_tree(list(self._DREAM_CONTENT_PATHS))

    @staticmethod
    def build_dream_commit_message(prefix: str, diff_body: str) -> str:
        """The message of a commit: what it is, and what really changed."""
        body = (diff_body or "").strip()
        return f"{prefix}\n\n{body}" if body else prefix

    @staticmethod
    def dream_session_key() -> str:
        """The key of the session of a run that starts now."""
        return f"dream:{datetime.now():%Y%m%d-%H%M%S}"

    @staticmethod
    def prune_dream_sessions(sessions: Any, *, keep: int = 10) -> None:
        """Deletes the sessions of runs but for the newest, through nanobot's SessionManager."""
        with sessions.locked_session_files() as folder:
            found = []
            for path in Path(folder).glob("*.jsonl"):
                key = type(sessions).decode_storage_key(path.stem)
                if key is not None and key.startswith("dream:"):
                    found.append((path.stat().st_mtime, key))
            for _, key in sorted(found)[: max(0, len(found) - keep)]:
                sessions.delete_session(key)
