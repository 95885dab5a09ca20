"""What hermes keeps out of memory, under the names that its hosts know: words that follow each other,
commands that touch secrets, paths, hidden markup.

The engine's own scan (:func:`oneiro._oneiro.scan`) is asked as well. It knows more disguises and more
languages; this one knows the phrases that hermes blocks, so that a host loses no protection.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from oneiro import _oneiro

__all__ = ["NAMES", "threat_message", "threats"]

#: Characters that are looked at: a bound for the time it takes.
MAX_CHARS = 65_536

#: Words that may stand between two steps of a phrase.
_GAP = 8

_RESTRICTIONS = "restrictions|limits|rules"
_SECRETS = "key|token|secret|password|credential|api"
_EDITS = "update|modify|edit|write|change|append|add to"

# A phrase: steps with other words between them, each step one of several. `+` follows at once.
_PHRASES: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("prompt_injection", ("ignore", "previous|all|above|prior", "instructions")),
    ("sys_prompt_override", ("system prompt override",)),
    ("disregard_rules", ("disregard", "your|all|any", "instructions|rules|guidelines")),
    (
        "bypass_restrictions",
        ("act as if|act as though", "you", "have no|don't have", _RESTRICTIONS),
    ),
    ("deception_hide", ("do not", "tell", "the user")),
    ("role_hijack", ("you are", "now a +|now an +|now the +")),
    ("role_pretend", ("pretend", "you are +|to be +")),
    ("leak_system_prompt", ("output", "system prompt|initial prompt")),
    (
        "remove_filters",
        (
            "respond without|answer without|reply without",
            "restrictions|limitations|filters|safety",
        ),
    ),
    ("fake_update", ("you have been", "updated to|upgraded to|patched to")),
    ("identity_override", ("name yourself +",)),
    (
        "c2_node_registration",
        (
            "register as a node|register as anode|register as node"
            "|register a node|register anode|register node",
        ),
    ),
    (
        "c2_heartbeat",
        (
            "heartbeat to +|heartbeat with +|beacon to +|beacon with +|checkin to +|checkin with +"
            "|check-in to +|check-in with +|check in to +|check in with +",
        ),
    ),
    ("c2_task_pull", ("pull task|pull down task|pull new task|pull down new task",)),
    ("c2_network_connect", ("connect to the network",)),
    ("forced_action", ("you must", "register|connect|report|beacon")),
    ("anti_forensic_oneliner", ("only use one-liner|only use one liner|only use oneliner",)),
    ("anti_forensic_disk", ("never", "create|write", "script|file", "disk")),
    ("c2_explicit", ("c2 server|c2 channel|c2 infrastructure|c2 beacon",)),
    ("c2_explicit_long", ("command and control",)),
    (
        "context_exfil",
        (
            "include|output|print|share",
            "conversation|chat history|previous messages|full context|entire context",
        ),
    ),
)

# On one line: a word, and behind it something that it should not be about; `…` is any text between.
# The line may be broken after the word, and before and after the words of the last column.
_LINES: tuple[tuple[str, str, str, str], ...] = (
    ("exfil_curl", "curl", rf"\$\{{?\w*(?:{_SECRETS})", ""),
    ("exfil_wget", "wget", rf"\$\{{?\w*(?:{_SECRETS})", ""),
    ("read_secrets", "cat", r"\.env|credentials|\.netrc|\.pgpass|\.npmrc|\.pypirc", ""),
    ("translate_execute", "translate", r"\sinto\s…\sand\s+(?:execute|run|eval)", "into|and"),
    ("send_to_url", "send|post|upload|transmit", r"\s(?:to|at)\s+https?://", "to|at"),
    ("agent_config_mod", _EDITS, r"agents\.md|claude\.md|\.cursorrules|\.clinerules", "to"),
    ("hermes_config_mod", _EDITS, r"\.hermes/(?:config\.yaml|soul\.md)", "to"),
)

# Wherever it stands.
_PLACES: tuple[tuple[str, str], ...] = (
    ("hidden_div", r"<\s*div\s[^<>]*display\s*:\s*none"),
    ("env_var_unset_agent", r"unset\s+\w*(?:claude|codex|hermes|agent|openai|anthropic)"),
    ("known_c2_framework", r"\b(?:cobalt\s*strike|sliver|havoc|mythic|metasploit|brainworm)\b"),
    ("ssh_backdoor", r"authorized_keys"),
    ("ssh_access", r"(?:~|\$home)/\.ssh"),
    ("hermes_env", r"(?:~|\$home)/\.hermes/\.env"),
    ("hardcoded_secret", r"(?:api[_-]?key|token|secret|password)\s*[=:]\s*[\"'][\w+/=-]{20}"),
)

# In a comment, which people do not see.
_COMMENTED = ("ignore", "override", "system", "secret", "hidden")

_COMMENT = "html_comment_injection"

_INVISIBLE = "invisible_unicode_"

#: What an editor puts before a file. It is no part of the text when the file is read again.
_BOM = "\ufeff"


def _breaks(first: str, joints: str) -> re.Pattern[str]:
    """Finds the line breaks that do not end a line, in a text with one gap between words."""
    after = f"{first}|{joints}" if joints else first
    before = rf"|\n(?=(?:{joints})[ \n])" if joints else ""
    return re.compile(rf"(?P<word>{after})\n{before}")


Step = tuple[tuple[str, ...], ...]

_STEPS: list[tuple[str, list[Step]]] = [
    (name, [tuple(tuple(one.split()) for one in step.split("|")) for step in steps])
    for name, steps in _PHRASES
]
_LINE_PATTERNS = [
    (
        name,
        first.split("|"),
        [re.compile(mark) for mark in marks.split("…")],
        _breaks(first, joints),
    )
    for name, first, marks, joints in _LINES
]
_SPACES = re.compile(r"[^\S\n]+")
_BREAKS = re.compile(r" ?\n[ \n]*")
_PLACE_PATTERNS = [(name, re.compile(place)) for name, place in _PLACES]


#: The names of hermes's patterns.
NAMES = frozenset(name for name, *_ in (*_PHRASES, *_LINES, *_PLACES)) | {_COMMENT}


def threats(text: str) -> list[str]:
    """Why a text is blocked: characters that are not displayed, hermes's names, then the engine's
    rules; empty if it is not."""
    text = text[:MAX_CHARS]
    found = _oneiro.scan(text)
    hidden = [
        f"{_INVISIBLE}U+{ord(text[at]):04X}" for _, kind, at, _ in found if kind == "invisible"
    ]
    if text.lstrip().startswith(_BOM):
        hidden.append(f"{_INVISIBLE}U+FEFF")
    plain = unicodedata.normalize("NFKC", text).lower()
    rules = [rule for rule, kind, _, _ in found if kind != "invisible"]
    return list(dict.fromkeys([*hidden, *_names(plain), *rules]))


def _names(text: str) -> Iterator[str]:
    words = text.split()
    if text[-1:].isspace():
        # What has to be followed by a space is.
        words.append("")
    for name, steps in _STEPS:
        if any(_follows(words, start, steps) for start in _starts(words, steps[0])):
            yield name
    spaced = _BREAKS.sub("\n", _SPACES.sub(" ", text))
    for name, firsts, marks, breaks in _LINE_PATTERNS:
        for line in breaks.sub(lambda found: f"{found['word'] or ''} ", spaced).split("\n"):
            at = min((end for first in firsts if (end := _after(line, first)) >= 0), default=-1)
            if at >= 0 and _contains(line, at, marks):
                yield name
    if any(_is_hidden_order(part) for part in text.split("<!--")[1:]):
        yield _COMMENT
    for name, place in _PLACE_PATTERNS:
        if place.search(text):
            yield name


def _contains(line: str, at: int, marks: list[re.Pattern[str]]) -> bool:
    """Whether marks come one after the other behind a place of a line. The first place of each is
    taken, so that a line is read once."""
    for mark in marks:
        found = mark.search(line, at)
        if found is None:
            return False
        # The space after one mark may be the space before the next.
        at = found.end() - 1
    return True


def _is_hidden_order(part: str) -> bool:
    """Whether a comment that begins here, and ends, has a word that is none for a comment."""
    body, end, _ = part.partition("-->")
    return bool(end) and ">" not in body and any(word in body for word in _COMMENTED)


def _after(line: str, first: str) -> int:
    """Where a word ends in a line; -1 if nothing comes behind it."""
    at = line.find(f"{first} ")
    return -1 if at < 0 else at + len(first)


def _starts(words: list[str], step: Step) -> list[int]:
    """Where a phrase may begin. What stands before its first word, such as a bracket, does not
    matter."""
    firsts = tuple(one[0] for one in step)
    return [place for place, word in enumerate(words) if word.endswith(firsts)]


def _follows(words: list[str], start: int, steps: list[Step]) -> bool:
    """Whether all steps follow each other from a place on, with at most this many words between."""
    ends = {end for one in steps[0] if (end := _step(words, start, one, len(steps) == 1)) >= 0}
    for number, step in enumerate(steps[1:], 2):
        is_last = number == len(steps)
        reached = set()
        for end in ends:
            for place in range(end, min(len(words), end + _GAP + 1)):
                matched = (_step(words, place, one, is_last) for one in step)
                reached |= {after for after in matched if after >= 0}
                # Only words may stand between, so a phrase does not run over the end of a sentence.
                if not words[place].replace("_", "0").isalnum():
                    break
        ends = reached
    return bool(ends)


def _step(words: list[str], place: int, step: tuple[str, ...], is_last: bool) -> int:
    """The place after a step that stands at a place; -1 if it does not. The last word of a phrase
    may be longer, or have a mark behind it."""
    for number, wanted in enumerate(step):
        if place + number >= len(words):
            return -1
        word = words[place + number]
        if wanted == "+":
            continue
        is_end = is_last and number == len(step) - 1
        if not (
            word == wanted or (is_end and word.startswith(wanted)) or _opens(word, wanted, number)
        ):
            return -1
    return place + len(step)


def _opens(word: str, wanted: str, number: int) -> bool:
    return number == 0 and word.endswith(wanted)


def threat_message(text: str) -> str | None:
    """Why a text is not kept, or None."""
    found = threats(text)
    if not found:
        return None
    if found[0].startswith(_INVISIBLE):
        point = found[0].removeprefix(_INVISIBLE)
        return (
            f"Blocked: content contains invisible unicode character {point} (possible injection)."
        )
    return (
        f"Blocked: content matches threat pattern '{found[0]}'. Content is injected into the "
        "system prompt and must not contain injection or exfiltration payloads."
    )
