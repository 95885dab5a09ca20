"""What Oneiro answers, as dataclasses. Messages are plain dicts, as they were handed in.

Made of the contract by `cargo run -p xtask`; what it cannot say is in `parts.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from oneiro.parts import Marked, Message, Page, known, message_from, moments

__all__ = [
    "Appended",
    "BlameLine",
    "CapturePause",
    "CaptureProject",
    "CaptureStatus",
    "CapturedInteraction",
    "ChangedMemories",
    "ChangedMemory",
    "ChangedNote",
    "Citation",
    "Compacted",
    "ConfidenceExplained",
    "ConfidencePart",
    "Conversation",
    "CountedEvidence",
    "Deleted",
    "Dream",
    "DreamCandidate",
    "DreamCounts",
    "DreamDecision",
    "DreamDetail",
    "DreamEvidence",
    "DreamFinding",
    "DreamInputs",
    "DreamLine",
    "DreamNote",
    "DreamPromotion",
    "DreamRun",
    "DreamStatus",
    "DreamThresholds",
    "Expanded",
    "ExplainedCandidate",
    "ExplainedLine",
    "ExplainedPack",
    "Extracted",
    "FileConflict",
    "FileProblem",
    "Found",
    "GivenPack",
    "Hit",
    "Imported",
    "Interaction",
    "Job",
    "LeftOperation",
    "Memory",
    "MemoryHistory",
    "MemoryHit",
    "MemoryStats",
    "MemoryView",
    "Message",
    "Mount",
    "MutedMemory",
    "Neighbour",
    "Note",
    "NoteBlock",
    "NoteDiff",
    "NoteHit",
    "NoteInfo",
    "NotePrompt",
    "NotesDiff",
    "Omitted",
    "Operation",
    "Pack",
    "PackItem",
    "PackOmission",
    "Page",
    "ProjectState",
    "Pruned",
    "RegisteredProject",
    "Reinforced",
    "ReinforcedMemory",
    "RelatedMemory",
    "Remembered",
    "ReplayedDream",
    "Revision",
    "RevisionDetail",
    "Rewound",
    "ScoreParts",
    "Session",
    "SignalCount",
    "Summary",
    "SummaryHit",
    "SyncedMount",
    "Undone",
    "UndoneDream",
    "Usage",
    "VerdictCount",
    "Why",
    "Window",
    "message_from",
]


@dataclass(slots=True)
class Appended:
    """The answer to an append."""

    #: The id of each message handed in, in order; a duplicate answers with the id it has.
    ids: list[int] = field(default_factory=list)
    #: How many were there already.
    duplicates: int = 0
    #: How many were not stored because the session's id matches an ignore or stateless pattern.
    skipped: int = 0
    #: How many lone surrogates were replaced.
    repaired: int = 0
    #: How many ``<private>`` spans were withheld.
    withheld: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Appended:
        return cls(**known(cls, native))


@dataclass(slots=True)
class BlameLine:
    """A line of a note and where it comes from."""

    #: Its number, from 1.
    line: int
    #: Its text.
    text: str
    #: The revision that wrote it.
    revision: str
    #: When.
    at: datetime
    #: Who wrote it.
    author: str
    #: What kind of actor wrote it.
    author_kind: str
    #: The dream that wrote it.
    dream_id: str | None = None
    #: Its age in whole days.
    age_days: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> BlameLine:
        moments(native, ["at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class CapturePause:
    """A time in which nothing is captured."""

    #: When it began.
    started_at: datetime
    #: When it ended or ends by itself; null until somebody resumes.
    ended_at: datetime | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> CapturePause:
        moments(native, ["started_at", "ended_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class CaptureProject:
    """The choice that was made for a project."""

    #: The working folder of the project, with links resolved.
    folder: str
    #: Whether its new turns are captured.
    capture: str
    #: When that was chosen. Transcripts that were last written to before are not read.
    chosen_at: datetime

    @classmethod
    def _from(cls, native: dict[str, Any]) -> CaptureProject:
        moments(native, ["chosen_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class CaptureStatus:
    """What is captured."""

    #: The pause that holds now, if any.
    pause: CapturePause | None = None
    #: The choice for projects without one of their own; null when nobody chose, and then only hooks
    #: capture them.
    other_projects: str | None = None
    #: The choices for projects, by folder.
    projects: list[CaptureProject] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> CaptureStatus:
        if native.get("pause") is not None:
            native["pause"] = CapturePause._from(native["pause"])
        if native.get("projects") is not None:
            native["projects"] = [CaptureProject._from(one) for one in native["projects"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class CapturedInteraction:
    """What followed from an interaction."""

    #: Its id.
    id: str
    #: What was asked.
    prompt: str
    #: Memories that the response used.
    memories_used: list[str]
    #: Chunks that the response used.
    chunks_used: list[str]
    #: When it was reported, or asked.
    created_at: datetime
    #: A summary of the response.
    response_summary: str | None = None
    #: The pack that was shown.
    pack_id: str | None = None
    #: The program that reported it.
    client: str | None = None
    #: Its session.
    session_id: str | None = None
    #: Its project.
    project: str | None = None
    #: Memories that the response rests on.
    reinforced: list[ReinforcedMemory] = field(default_factory=list)
    #: Candidates that were extracted.
    extracted: list[str] = field(default_factory=list)
    #: What was answered; absent in lists.
    response: str | None = None
    #: The message that asked, if it is a turn of a session.
    message_id: int = 0
    #: What could not be done; the interaction is stored all the same.
    problems: list[str] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> CapturedInteraction:
        moments(native, ["created_at"])
        if native.get("reinforced") is not None:
            native["reinforced"] = [ReinforcedMemory._from(one) for one in native["reinforced"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class ChangedMemories:
    """The answer to a change of several memories."""

    #: The memories as they are now; with ``dry_run``, as they would be.
    memories: list[Memory] = field(default_factory=list)
    #: The group of the operations, which undoes them together; null if nothing changed.
    group: str | None = None
    #: Whether nothing was written.
    dry_run: bool = False

    @classmethod
    def _from(cls, native: dict[str, Any]) -> ChangedMemories:
        if native.get("memories") is not None:
            native["memories"] = [Memory._from(one) for one in native["memories"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class ChangedMemory:
    """The answer to a change of one memory."""

    #: Its id.
    id: str
    #: What it is about.
    kind: str
    #: The statement.
    content: str
    #: Whether it is believed.
    status: str
    #: How certain it is, between 0 and 1: ``initial_confidence`` and what signals add to it.
    confidence: float
    #: The trust of its least trusted source.
    trust: str
    #: Tags.
    tags: list[str]
    #: Who created it.
    origin: str
    #: The confidence it was created with.
    initial_confidence: float
    #: How often an answer rested on it.
    reference_count: int
    #: When it was created.
    created_at: datetime
    #: When it last changed.
    updated_at: datetime
    #: The person or thing it is about.
    subject: str | None = None
    #: The project it belongs to; null for all projects.
    project: str | None = None
    #: When it starts to hold.
    valid_from: datetime | None = None
    #: When it stops holding.
    valid_until: datetime | None = None
    #: The memory that replaced it.
    superseded_by: str | None = None
    #: The memory that contradicts it, until a person settles which holds.
    suspended_by: str | None = None
    #: The memory that it is to replace when it becomes active.
    replaces: str | None = None
    #: When a person confirmed it.
    confirmed_at: datetime | None = None
    #: When an answer last rested on it.
    last_referenced_at: datetime | None = None
    #: Its sources.
    citations: list[Citation] = field(default_factory=list)
    #: The operation that changed it; null if nothing changed.
    operation: str | None = None
    #: The group of that operation and of what it changed elsewhere, which undoes them together.
    group: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> ChangedMemory:
        moments(native, ["created_at", "updated_at", "valid_from", "valid_until", "confirmed_at", "last_referenced_at"])
        if native.get("citations") is not None:
            native["citations"] = [Citation._from(one) for one in native["citations"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class ChangedNote:
    """The answer to a change of a note."""

    #: Its name.
    name: str
    #: Its text.
    content: str
    #: Characters of its text, without spaces and line ends around it.
    chars: int
    #: Changes with the text; give it as ``base`` to change only what was read.
    etag: str
    #: When it was last changed.
    updated_at: datetime
    #: The most characters it may have, if it has a budget.
    limit: int | None = None
    #: The revision that made this text.
    revision: str | None = None
    #: Whether anything changed. If not, there is no new revision.
    changed: bool = False
    #: Whether changes of others were kept beside this one.
    merged: bool = False

    @classmethod
    def _from(cls, native: dict[str, Any]) -> ChangedNote:
        moments(native, ["updated_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Citation:
    """A source of a memory."""

    #: The cited words.
    quote: str
    #: How far the cited words are trusted.
    trust: str
    #: The message that holds the quote; null if no captured message does.
    message_id: int | None = None
    #: The session of that message.
    session_id: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Citation:
        return cls(**known(cls, native))


@dataclass(slots=True)
class Compacted:
    """What a compaction did."""

    #: The summaries it made, in order.
    created: list[str]
    #: Tokens of a prompt with every message in full.
    tokens_before: int
    #: Tokens of the window of ``until`` tokens; without ``until`` those of the shortest form, with
    #: summaries in place of all messages that have one.
    tokens_after: int
    #: Why it went no further.
    stopped: str
    #: The summaries it had rewritten.
    redone: list[str] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Compacted:
        return cls(**known(cls, native))


@dataclass(slots=True)
class ConfidenceExplained:
    """The parts that add up to a confidence."""

    #: The parts, in order; the last one is the result.
    parts: list[ConfidencePart] = field(default_factory=list)
    #: How many signals of each kind there are.
    signals: list[SignalCount] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> ConfidenceExplained:
        if native.get("parts") is not None:
            native["parts"] = [ConfidencePart._from(one) for one in native["parts"]]
        if native.get("signals") is not None:
            native["signals"] = [SignalCount._from(one) for one in native["signals"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class ConfidencePart:
    """One part of a confidence."""

    #: What it is.
    name: str
    #: What it adds, or the result.
    value: float = 0.0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> ConfidencePart:
        return cls(**known(cls, native))


@dataclass(slots=True)
class Conversation:
    """A conversation that was found."""

    #: The session that holds the hit, without its system prompt.
    session: dict[str, Any]
    #: The hit; none when only the title has the words.
    hit: Hit | None = None
    #: What was said around it, itself included; empty without a hit.
    window: list[dict[str, Any]] = field(default_factory=list)
    #: Messages of the session before the window.
    before: int = 0
    #: Messages of the session after the window.
    after: int = 0
    #: How the session opened, as far as the window does not show it.
    opening: list[dict[str, Any]] = field(default_factory=list)
    #: How the session ended, as far as the window does not show it.
    closing: list[dict[str, Any]] = field(default_factory=list)
    #: Where the conversation began, when that is another session.
    root_id: str | None = None
    #: Whether it comes first because its title has every word of the query.
    titled: bool = False
    #: The conversation condensed around the query, if that was asked for.
    digest: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Conversation:
        if native.get("hit") is not None:
            native["hit"] = Hit._from(native["hit"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class CountedEvidence:
    """One piece of evidence for a candidate."""

    #: The day.
    date: str
    #: What it is.
    kind: str
    #: The prompt or the cited words.
    text: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> CountedEvidence:
        return cls(**known(cls, native))


@dataclass(slots=True)
class Deleted:
    """The answer to a delete."""

    #: The sessions that are gone: the one named and the delegates under it.
    sessions: list[str] = field(default_factory=list)
    #: Sessions that lost their parent.
    orphaned: list[str] = field(default_factory=list)
    #: How many messages went with them.
    messages: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Deleted:
        return cls(**known(cls, native))


@dataclass(slots=True)
class Expanded:
    """The exact messages under something."""

    #: They, in the order they came.
    messages: list[Message] = field(default_factory=list)
    #: Their tokens.
    tokens: int = 0
    #: Where to go on.
    next: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Expanded:
        if native.get("messages") is not None:
            native["messages"] = [message_from(one) for one in native["messages"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class ExplainedCandidate:
    """A candidate with what its last decision rests on."""

    #: Its id.
    id: str
    #: The memory that states it.
    memory_id: str
    #: What it states.
    claim: str
    #: What it is about.
    kind: str
    #: Its concepts, as they were when it was staged.
    tags: list[str]
    #: Its evidence.
    evidence: DreamEvidence
    #: The parts of its score.
    parts: ScoreParts
    #: Its score, calibrated so that the documented minimum of the preset reaches the threshold.
    score: float
    #: What was decided last.
    decision: str
    #: Why.
    reason: str
    #: When that was decided.
    decided_at: datetime
    #: The dream that decided it.
    dream_id: str
    #: When it was staged.
    staged_at: datetime
    #: The name of the thresholds that it was measured by last.
    preset: str
    #: Those thresholds.
    thresholds: DreamThresholds
    #: The project it belongs to.
    project: str | None = None
    #: The person or thing it is about.
    subject: str | None = None
    #: The gate that it did not pass.
    gate: str | None = None
    #: When it was first promoted.
    promoted_at: datetime | None = None
    #: What promoted it, if it is promoted.
    promotion: DreamPromotion | None = None
    #: The evidence for its memory, oldest first. The first statement made the claim, and does not
    #: count. Evidence of candidates that say the same is not listed.
    counted: list[CountedEvidence] = field(default_factory=list)
    #: Its line in a note, if it stands in one.
    line: DreamLine | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> ExplainedCandidate:
        moments(native, ["decided_at", "staged_at", "promoted_at"])
        native["evidence"] = DreamEvidence._from(native["evidence"])
        native["parts"] = ScoreParts._from(native["parts"])
        native["thresholds"] = DreamThresholds._from(native["thresholds"])
        if native.get("promotion") is not None:
            native["promotion"] = DreamPromotion._from(native["promotion"])
        if native.get("counted") is not None:
            native["counted"] = [CountedEvidence._from(one) for one in native["counted"]]
        if native.get("line") is not None:
            native["line"] = DreamLine._from(native["line"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class ExplainedLine:
    """A line of a pack with where it came from."""

    #: What it is.
    kind: str
    #: The id of the fact, the memory or the message.
    id: str
    #: The line as it is in the text, without its id and date.
    text: str
    #: Its part of the pack.
    band: str
    #: Since when it holds, or when it was said.
    at: datetime
    #: Where it came from.
    why: Why

    @classmethod
    def _from(cls, native: dict[str, Any]) -> ExplainedLine:
        moments(native, ["at"])
        native["why"] = Why._from(native["why"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Dream:
    """One consolidation run."""

    #: Its id.
    id: str
    #: The mode of the space.
    mode: str
    #: Its thresholds by name.
    preset: str
    #: What started it.
    trigger: str
    #: Whether it changed anything, or only said what it would change.
    apply: bool
    #: When it started.
    started_at: datetime
    #: What became of it.
    outcome: str
    #: Whether it ran.
    ran: bool
    #: Its thresholds.
    thresholds: DreamThresholds
    #: What it read.
    inputs: DreamInputs
    #: How much it did.
    counts: DreamCounts
    #: The scheduled time that it stands for; null if somebody asked for it.
    period: datetime | None = None
    #: When it ended.
    finished_at: datetime | None = None
    #: Why, if it did not run.
    reason: str | None = None
    #: What it noticed.
    findings: list[DreamFinding] = field(default_factory=list)
    #: The group of its operations.
    group: str | None = None
    #: The revision of the notes that it made.
    revision: str | None = None
    #: When it was undone.
    undone_at: datetime | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Dream:
        moments(native, ["started_at", "period", "finished_at", "undone_at"])
        native["thresholds"] = DreamThresholds._from(native["thresholds"])
        native["inputs"] = DreamInputs._from(native["inputs"])
        native["counts"] = DreamCounts._from(native["counts"])
        if native.get("findings") is not None:
            native["findings"] = [DreamFinding._from(one) for one in native["findings"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamCandidate:
    """A claim that may be promoted, with the last decision about it."""

    #: Its id.
    id: str
    #: The memory that states it.
    memory_id: str
    #: What it states.
    claim: str
    #: What it is about.
    kind: str
    #: Its concepts, as they were when it was staged.
    tags: list[str]
    #: Its evidence.
    evidence: DreamEvidence
    #: The parts of its score.
    parts: ScoreParts
    #: Its score, calibrated so that the documented minimum of the preset reaches the threshold.
    score: float
    #: What was decided last.
    decision: str
    #: Why.
    reason: str
    #: When that was decided.
    decided_at: datetime
    #: The dream that decided it.
    dream_id: str
    #: When it was staged.
    staged_at: datetime
    #: The project it belongs to.
    project: str | None = None
    #: The person or thing it is about.
    subject: str | None = None
    #: The gate that it did not pass.
    gate: str | None = None
    #: When it was first promoted.
    promoted_at: datetime | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamCandidate:
        moments(native, ["decided_at", "staged_at", "promoted_at"])
        native["evidence"] = DreamEvidence._from(native["evidence"])
        native["parts"] = ScoreParts._from(native["parts"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamCounts:
    """How much a dream did."""

    #: Candidates that it looked at.
    candidates: int = 0
    #: Those that it saw for the first time.
    staged: int = 0
    #: Promoted ones.
    promoted: int = 0
    #: Merged ones.
    merged: int = 0
    #: Superseded ones.
    superseded: int = 0
    #: Retired ones.
    retired: int = 0
    #: Those that wait.
    waiting: int = 0
    #: Rejected ones.
    rejected: int = 0
    #: Lines added to notes.
    lines_added: int = 0
    #: Lines removed from notes.
    lines_removed: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamCounts:
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamDecision:
    """What one dream decided about one candidate."""

    #: The candidate.
    candidate_id: str
    #: The memory that states it.
    memory_id: str
    #: What it states.
    claim: str
    #: What was decided.
    decision: str
    #: Why.
    reason: str
    #: The parts of its score.
    parts: ScoreParts
    #: Its calibrated score.
    score: float
    #: The evidence that the score follows from.
    evidence: DreamEvidence
    #: The person or thing it is about.
    subject: str | None = None
    #: The project it belongs to.
    project: str | None = None
    #: The gate that it did not pass.
    gate: str | None = None
    #: What the note was to say.
    line: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamDecision:
        native["parts"] = ScoreParts._from(native["parts"])
        native["evidence"] = DreamEvidence._from(native["evidence"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamDetail:
    """A dream with its decisions."""

    #: Its id.
    id: str
    #: The mode of the space.
    mode: str
    #: Its thresholds by name.
    preset: str
    #: What started it.
    trigger: str
    #: Whether it changed anything, or only said what it would change.
    apply: bool
    #: When it started.
    started_at: datetime
    #: What became of it.
    outcome: str
    #: Whether it ran.
    ran: bool
    #: Its thresholds.
    thresholds: DreamThresholds
    #: What it read.
    inputs: DreamInputs
    #: How much it did.
    counts: DreamCounts
    #: What it noticed.
    findings: list[DreamFinding]
    #: What it decided.
    decisions: list[DreamDecision]
    #: The same in sentences.
    diary: str
    #: The scheduled time that it stands for; null if somebody asked for it.
    period: datetime | None = None
    #: When it ended.
    finished_at: datetime | None = None
    #: Why, if it did not run.
    reason: str | None = None
    #: The group of its operations.
    group: str | None = None
    #: The revision of the notes that it made.
    revision: str | None = None
    #: When it was undone.
    undone_at: datetime | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamDetail:
        moments(native, ["started_at", "period", "finished_at", "undone_at"])
        native["thresholds"] = DreamThresholds._from(native["thresholds"])
        native["inputs"] = DreamInputs._from(native["inputs"])
        native["counts"] = DreamCounts._from(native["counts"])
        native["findings"] = [DreamFinding._from(one) for one in native["findings"]]
        native["decisions"] = [DreamDecision._from(one) for one in native["decisions"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamEvidence:
    """The evidence for a candidate, summed up. Exposure is not part of it."""

    #: Recalls by people, later statements and confirmations.
    recalls: int = 0
    #: Different prompts among them.
    prompts: int = 0
    #: Different days among them.
    days: int = 0
    #: Days between the first and the last of them.
    span_days: int = 0
    #: The relevance of the best three, best first.
    best: list[float] = field(default_factory=list)
    #: Statements of the person after the first.
    statements: int = 0
    #: Confirmations by a person.
    confirmations: int = 0
    #: Days on which an answer rested on it.
    uses: int = 0
    #: When the last recall, statement or confirmation was.
    last_at: datetime | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamEvidence:
        moments(native, ["last_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamFinding:
    """Something that a dream noticed. It changes nothing."""

    #: What it is.
    kind: str
    #: The concept, the ids of memories, or the note and the line.
    what: str
    #: How sure it is, between 0 and 1.
    confidence: float
    #: Why.
    reason: str

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamFinding:
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamInputs:
    """What a dream read, and up to where."""

    #: The last message it knew.
    last_message: int = 0
    #: The key of the last operation it knew.
    last_operation: int = 0
    #: The last revision of the notes it knew.
    revision: str | None = None
    #: The notes that it keeps, with the hash of their text before it.
    notes: list[DreamNote] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamInputs:
        if native.get("notes") is not None:
            native["notes"] = [DreamNote._from(one) for one in native["notes"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamLine:
    """The line that a dream wrote into a note."""

    #: The note.
    note: str
    #: What it says there.
    text: str

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamLine:
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamNote:
    """A note that a dream keeps."""

    #: Its name.
    name: str
    #: The hash of its text before the dream; null if there was none.
    before: str | None = None
    #: The hash of its text after it.
    after: str | None = None
    #: The most characters it may have.
    budget: int | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamNote:
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamPromotion:
    """The decision that promoted a candidate."""

    #: The dream.
    dream_id: str
    #: When.
    at: datetime
    #: Why.
    reason: str
    #: Its score at that time.
    score: float
    #: The parts of that score.
    parts: ScoreParts
    #: The evidence at that time.
    evidence: DreamEvidence

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamPromotion:
        moments(native, ["at"])
        native["parts"] = ScoreParts._from(native["parts"])
        native["evidence"] = DreamEvidence._from(native["evidence"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamRun:
    """The answer to a request to dream."""

    #: Whether the request was meant for Oneiro; a host's other heartbeats are not.
    handled: bool
    #: What became of it.
    outcome: str
    #: Why.
    reason: str
    #: The dream, if there is one.
    dream: DreamDetail | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamRun:
        if native.get("dream") is not None:
            native["dream"] = DreamDetail._from(native["dream"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamStatus:
    """Whether a space dreams, and when next."""

    #: Whether and how often it dreams by itself.
    mode: str
    #: Whether such dreams change anything.
    apply: bool
    #: The schedule as a cron expression.
    cron: str
    #: The time zone of the schedule.
    timezone: str
    #: The thresholds of such dreams.
    thresholds: DreamThresholds
    #: When the next one is due; null if dreams are off.
    next_at: datetime | None = None
    #: The last dream that ran.
    last: Dream | None = None
    #: Candidates by decision.
    candidates: list[VerdictCount] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamStatus:
        moments(native, ["next_at"])
        native["thresholds"] = DreamThresholds._from(native["thresholds"])
        if native.get("last") is not None:
            native["last"] = Dream._from(native["last"])
        if native.get("candidates") is not None:
            native["candidates"] = [VerdictCount._from(one) for one in native["candidates"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class DreamThresholds:
    """The thresholds of a dream."""

    #: Maximum number of promotions.
    limit: int = 0
    #: The least calibrated score.
    min_score: float = 0.0
    #: The least number of recalls.
    min_recall_count: int = 0
    #: The least number of different prompts.
    min_unique_queries: int = 0
    #: Days after which a recall counts half.
    half_life_days: float = 0.0
    #: The weights of the parts of the score.
    weights: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> DreamThresholds:
        return cls(**known(cls, native))


@dataclass(slots=True)
class LeftOperation:
    """An operation that could not be undone."""

    #: The operation.
    operation: str
    #: What it changed.
    subject: str
    #: Why it stands.
    reason: str

    @classmethod
    def _from(cls, native: dict[str, Any]) -> LeftOperation:
        return cls(**known(cls, native))


@dataclass(slots=True)
class ReplayedDream:
    """The answer to a replay."""

    #: The dream.
    dream_id: str
    #: Whether the same decisions and the same notes came out.
    same: bool = False
    #: Decisions that were made again.
    decisions: int = 0
    #: What came out differently, or could not be compared.
    differences: list[str] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> ReplayedDream:
        return cls(**known(cls, native))


@dataclass(slots=True)
class ScoreParts:
    """The parts of a score, each between 0 and 1, without their weights."""

    #: How often it was recalled.
    frequency: float = 0.0
    #: How relevant it was: the mean of its best three recalls.
    relevance: float = 0.0
    #: By how many different prompts.
    diversity: float = 0.0
    #: How long ago the last one was.
    recency: float = 0.0
    #: Over how many days.
    consolidation: float = 0.0
    #: How many concepts it has.
    conceptual: float = 0.0
    #: What uses and confirmations add to the weighted sum.
    boost: float = 0.0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> ScoreParts:
        return cls(**known(cls, native))


@dataclass(slots=True)
class UndoneDream:
    """The answer to the undo of a dream."""

    #: The dream.
    dream: Dream
    #: The operations that were undone.
    undone: list[str] = field(default_factory=list)
    #: What could not be undone, and why.
    left: list[LeftOperation] = field(default_factory=list)
    #: The revision of the notes that the undo made.
    revision: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> UndoneDream:
        native["dream"] = Dream._from(native["dream"])
        if native.get("left") is not None:
            native["left"] = [LeftOperation._from(one) for one in native["left"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class VerdictCount:
    """How many candidates have a decision."""

    #: The decision.
    decision: str
    #: How many.
    count: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> VerdictCount:
        return cls(**known(cls, native))


@dataclass(slots=True)
class ExplainedPack:
    """What a session was shown, and where each line came from."""

    #: The pack; null if none was given.
    pack: GivenPack | None = None
    #: Its lines, in their order.
    lines: list[ExplainedLine] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> ExplainedPack:
        if native.get("pack") is not None:
            native["pack"] = GivenPack._from(native["pack"])
        if native.get("lines") is not None:
            native["lines"] = [ExplainedLine._from(one) for one in native["lines"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Extracted:
    """What was learnt."""

    #: Messages that were read.
    messages: int = 0
    #: Memories that are believed at once: the person's own plain words.
    active: int = 0
    #: Memories that wait for review.
    candidates: int = 0
    #: Statements that were known: they got the new evidence.
    known: int = 0
    #: Older statements that were replaced.
    superseded: int = 0
    #: Statements that a person refused before.
    refused: int = 0
    #: Memories that an answer rests on.
    used: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Extracted:
        return cls(**known(cls, native))


@dataclass(slots=True)
class FileConflict:
    """A note that was changed in the store and in its file in the same place."""

    #: The note, which has the text of the file.
    note: str
    #: The file with the other text, relative to the folder. Remove it when it is dealt with.
    copy: str

    @classmethod
    def _from(cls, native: dict[str, Any]) -> FileConflict:
        return cls(**known(cls, native))


@dataclass(slots=True)
class FileProblem:
    """A file that is not kept in sync."""

    #: The file, relative to the folder.
    file: str
    #: Why, and what to do.
    problem: str

    @classmethod
    def _from(cls, native: dict[str, Any]) -> FileProblem:
        return cls(**known(cls, native))


@dataclass(slots=True)
class GivenPack:
    """A pack that was given, without its text."""

    #: Its id.
    id: str
    #: Tokens of its text.
    tokens: int
    #: How many lines it has.
    lines: int
    #: How many lines were considered and left out.
    omitted: int
    #: When it was given.
    created_at: datetime
    #: The session that asked.
    session_id: str | None = None
    #: The program that asked.
    client: str | None = None
    #: The project.
    project: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> GivenPack:
        moments(native, ["created_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Found:
    """The answer to a search, messages, summaries and memories apart."""

    #: How sure the answer is: ``strong``, the first hits very likely answer; ``weak``, they are
    #: about it; ``none``, nothing is about it.
    found: str
    #: How strictly the first hit was found; null without hits.
    tier: str | None = None
    #: Messages that were found, in order.
    hits: list[Hit] = field(default_factory=list)
    #: Where the next page begins.
    next: str | None = None
    #: What ``found`` follows from, if the request says ``explain``.
    evidence: list[dict[str, Any]] = field(default_factory=list)
    #: What the answer leaves out, when it could not look at everything.
    note: str | None = None
    #: Summaries that were found, in order.
    summaries: list[SummaryHit] = field(default_factory=list)
    #: Memories that were found, in order.
    memories: list[MemoryHit] = field(default_factory=list)
    #: Entries of notes that were found, in order.
    notes: list[NoteHit] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Found:
        if native.get("hits") is not None:
            native["hits"] = [Hit._from(one) for one in native["hits"]]
        if native.get("summaries") is not None:
            native["summaries"] = [SummaryHit._from(one) for one in native["summaries"]]
        if native.get("memories") is not None:
            native["memories"] = [MemoryHit._from(one) for one in native["memories"]]
        if native.get("notes") is not None:
            native["notes"] = [NoteHit._from(one) for one in native["notes"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Hit(Marked):
    """Something found."""

    #: What it is.
    kind: str
    #: The message.
    id: int
    #: Its session.
    session_id: str
    #: How good it is; only comparable within one answer.
    score: float
    #: How strictly it was found.
    tier: str
    #: The part of its text that matters, as it was said.
    snippet: str
    #: What in the snippet met the query: first character and the one after the last.
    highlights: list[tuple[int, int]]
    #: When it was said.
    at: datetime
    #: Who spoke.
    role: str
    #: The project of its session.
    project: str | None = None
    #: The caller's id of the message.
    external_id: str | None = None
    #: The speaker's name.
    name: str | None = None
    #: What was said before and after it in its session.
    neighbours: list[Neighbour] = field(default_factory=list)
    #: Why it ranked where it did.
    trace: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Hit:
        moments(native, ["at"])
        native["highlights"] = [(one[0], one[1]) for one in native["highlights"]]
        if native.get("neighbours") is not None:
            native["neighbours"] = [Neighbour._from(one) for one in native["neighbours"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Imported:
    """The answer to an import."""

    #: Sessions created.
    sessions: int = 0
    #: Messages created.
    messages: int = 0
    #: Sessions that were there already, left as they are, or that an ignore pattern matches.
    skipped: int = 0
    #: Messages left out because their external id was there already in the same session.
    duplicates: int = 0
    #: Sessions whose parent is missing or would be their own descendant.
    detached: int = 0
    #: Memories added or changed.
    memories: int = 0
    #: Notes added or changed.
    notes: int = 0
    #: Operations added from the file.
    operations: int = 0
    #: Signals added.
    signals: int = 0
    #: Projects, facts of their state and distrusted sources added or changed.
    state: int = 0
    #: Active memories merged into one that states the same.
    merged: int = 0
    #: Active memories suspended because another contradicts them.
    suspended: int = 0
    #: Memories not taken over, or no longer believed, because a person refused what they state.
    refused: int = 0
    #: Memories left out because they were erased here.
    erased: int = 0
    #: Lines that count only if a person imports them.
    withheld: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Imported:
        return cls(**known(cls, native))


@dataclass(slots=True)
class Interaction:
    """One prompt with its response."""

    #: Its id.
    id: str
    #: What was asked.
    prompt: str
    #: Memories that the response used.
    memories_used: list[str]
    #: Chunks that the response used.
    chunks_used: list[str]
    #: When it was reported, or asked.
    created_at: datetime
    #: A summary of the response.
    response_summary: str | None = None
    #: The pack that was shown.
    pack_id: str | None = None
    #: The program that reported it.
    client: str | None = None
    #: Its session.
    session_id: str | None = None
    #: Its project.
    project: str | None = None
    #: What was answered; absent in lists.
    response: str | None = None
    #: The message that asked, if it is a turn of a session.
    message_id: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Interaction:
        moments(native, ["created_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Job:
    """A stored job."""

    #: Its id.
    id: str
    #: What it does.
    kind: str
    #: Where it stands.
    state: str
    #: How often it was begun.
    attempts: int
    #: When it runs next.
    next_run_at: datetime
    #: With what it works.
    payload: Any = None
    #: Until when its holder may work on it.
    lease_until: datetime | None = None
    #: Why the last attempt failed.
    last_error: str | None = None
    #: What it cannot be done without.
    needs: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Job:
        moments(native, ["next_run_at", "lease_until"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Memory:
    """A durable statement."""

    #: Its id.
    id: str
    #: What it is about.
    kind: str
    #: The statement.
    content: str
    #: Whether it is believed.
    status: str
    #: How certain it is, between 0 and 1: ``initial_confidence`` and what signals add to it.
    confidence: float
    #: The trust of its least trusted source.
    trust: str
    #: Tags.
    tags: list[str]
    #: Who created it.
    origin: str
    #: The confidence it was created with.
    initial_confidence: float
    #: How often an answer rested on it.
    reference_count: int
    #: When it was created.
    created_at: datetime
    #: When it last changed.
    updated_at: datetime
    #: The person or thing it is about.
    subject: str | None = None
    #: The project it belongs to; null for all projects.
    project: str | None = None
    #: When it starts to hold.
    valid_from: datetime | None = None
    #: When it stops holding.
    valid_until: datetime | None = None
    #: The memory that replaced it.
    superseded_by: str | None = None
    #: The memory that contradicts it, until a person settles which holds.
    suspended_by: str | None = None
    #: The memory that it is to replace when it becomes active.
    replaces: str | None = None
    #: When a person confirmed it.
    confirmed_at: datetime | None = None
    #: When an answer last rested on it.
    last_referenced_at: datetime | None = None
    #: Its sources.
    citations: list[Citation] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Memory:
        moments(native, ["created_at", "updated_at", "valid_from", "valid_until", "confirmed_at", "last_referenced_at"])
        if native.get("citations") is not None:
            native["citations"] = [Citation._from(one) for one in native["citations"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class MemoryHit(Marked):
    """A memory that was found."""

    #: What it is.
    kind: str
    #: The memory.
    id: str
    #: What it is about.
    memory_kind: str
    #: The statement.
    content: str
    #: Whether it is believed; a candidate is not reviewed.
    status: str
    #: The trust of its least trusted source.
    trust: str
    #: How certain it is.
    confidence: float
    #: How good it is; only comparable within one answer.
    score: float
    #: How strictly it was found.
    tier: str
    #: The part of the statement that matters.
    snippet: str
    #: What in the snippet met the query: first character and the one after the last.
    highlights: list[tuple[int, int]]
    #: When it was created.
    at: datetime
    #: The person or thing it is about.
    subject: str | None = None
    #: The project it belongs to.
    project: str | None = None
    #: When it starts to hold.
    valid_from: datetime | None = None
    #: When it stops holding.
    valid_until: datetime | None = None
    #: The memory that replaced it.
    superseded_by: str | None = None
    #: The memory that contradicts it: it is not to be told as true.
    suspended_by: str | None = None
    #: Why it ranked where it did.
    trace: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> MemoryHit:
        moments(native, ["at", "valid_from", "valid_until"])
        native["highlights"] = [(one[0], one[1]) for one in native["highlights"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class MemoryHistory:
    """Every operation on a memory, oldest first."""

    #: The memory, if it still exists.
    memory: Memory | None = None
    #: The operations.
    items: list[Operation] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> MemoryHistory:
        if native.get("memory") is not None:
            native["memory"] = Memory._from(native["memory"])
        if native.get("items") is not None:
            native["items"] = [Operation._from(one) for one in native["items"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class MemoryStats:
    """What packs gave, and what became of it."""

    #: Packs since this time are counted.
    since: datetime
    #: Packs with lines.
    packs: int = 0
    #: Packs without a line, because nothing was relevant.
    empty_packs: int = 0
    #: Tokens of the packs.
    tokens: int = 0
    #: Lines of the packs.
    lines: int = 0
    #: Lines that are memories.
    memory_lines: int = 0
    #: Memory lines on which an answer rested within a day.
    used: int = 0
    #: The share of memory lines that were used; absent if there were none.
    used_share: float | None = None
    #: Memory lines that were contradicted since.
    contradicted: int = 0
    #: Memory lines that were corrected since: rewritten, replaced, or refused by a person.
    corrected: int = 0
    #: Memories that packs leave out, because they were never used; the last served first, at most
    #: 500.
    muted: list[MutedMemory] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> MemoryStats:
        moments(native, ["since"])
        if native.get("muted") is not None:
            native["muted"] = [MutedMemory._from(one) for one in native["muted"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class MemoryView:
    """A memory with what it relates to."""

    #: Its id.
    id: str
    #: What it is about.
    kind: str
    #: The statement.
    content: str
    #: Whether it is believed.
    status: str
    #: How certain it is, between 0 and 1: ``initial_confidence`` and what signals add to it.
    confidence: float
    #: The trust of its least trusted source.
    trust: str
    #: Tags.
    tags: list[str]
    #: Who created it.
    origin: str
    #: The confidence it was created with.
    initial_confidence: float
    #: How often an answer rested on it.
    reference_count: int
    #: When it was created.
    created_at: datetime
    #: When it last changed.
    updated_at: datetime
    #: The person or thing it is about.
    subject: str | None = None
    #: The project it belongs to; null for all projects.
    project: str | None = None
    #: When it starts to hold.
    valid_from: datetime | None = None
    #: When it stops holding.
    valid_until: datetime | None = None
    #: The memory that replaced it.
    superseded_by: str | None = None
    #: The memory that contradicts it, until a person settles which holds.
    suspended_by: str | None = None
    #: The memory that it is to replace when it becomes active.
    replaces: str | None = None
    #: When a person confirmed it.
    confirmed_at: datetime | None = None
    #: When an answer last rested on it.
    last_referenced_at: datetime | None = None
    #: Its sources.
    citations: list[Citation] = field(default_factory=list)
    #: The parts that add up to its confidence; only with ``explain``.
    explanation: ConfidenceExplained | None = None
    #: Memories that say the same or contradict it; only with ``explain``.
    related: list[RelatedMemory] = field(default_factory=list)
    #: Projects whose packs leave it out, because it was served often and never used.
    muted_in: list[str] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> MemoryView:
        moments(native, ["created_at", "updated_at", "valid_from", "valid_until", "confirmed_at", "last_referenced_at"])
        if native.get("citations") is not None:
            native["citations"] = [Citation._from(one) for one in native["citations"]]
        if native.get("explanation") is not None:
            native["explanation"] = ConfidenceExplained._from(native["explanation"])
        if native.get("related") is not None:
            native["related"] = [RelatedMemory._from(one) for one in native["related"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Mount:
    """A mounted folder."""

    #: Its id, which its marker file ``.oneiro/mount`` has too.
    id: str
    #: The folder.
    path: str
    #: Which of its files are notes.
    layout: str
    #: Whether its files are kept in sync.
    state: str
    #: How many of its files are in sync.
    files: int
    #: When it was mounted.
    created_at: datetime
    #: Why they are not.
    reason: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Mount:
        moments(native, ["created_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class MutedMemory:
    """A memory that packs of a project leave out."""

    #: The memory.
    id: str
    #: What it states.
    content: str
    #: The project.
    project: str
    #: When it was served last.
    served_at: datetime

    @classmethod
    def _from(cls, native: dict[str, Any]) -> MutedMemory:
        moments(native, ["served_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Neighbour:
    """A message near a hit."""

    #: The message.
    id: int
    #: Who spoke.
    role: str
    #: When it was said.
    at: datetime
    #: The beginning of its text.
    text: str
    #: The speaker's name.
    name: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Neighbour:
        moments(native, ["at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Note:
    """A note."""

    #: Its name.
    name: str
    #: Its text.
    content: str
    #: Characters of its text, without spaces and line ends around it.
    chars: int
    #: Changes with the text; give it as ``base`` to change only what was read.
    etag: str
    #: When it was last changed.
    updated_at: datetime
    #: The most characters it may have, if it has a budget.
    limit: int | None = None
    #: The revision that made this text.
    revision: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Note:
        moments(native, ["updated_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class NoteBlock:
    """One note in a prompt."""

    #: The note.
    name: str
    #: Its header and text.
    text: str

    @classmethod
    def _from(cls, native: dict[str, Any]) -> NoteBlock:
        return cls(**known(cls, native))


@dataclass(slots=True)
class NoteDiff:
    """The difference between two texts of a note."""

    #: The note.
    name: str
    #: Lines added.
    added: int
    #: Lines removed.
    removed: int
    #: The difference as text: unified, or by words.
    text: str

    @classmethod
    def _from(cls, native: dict[str, Any]) -> NoteDiff:
        return cls(**known(cls, native))


@dataclass(slots=True)
class NoteHit(Marked):
    """An entry of a note that was found."""

    #: What it is.
    kind: str
    #: The note and the entry, as ``MEMORY.md#1f3a9c2b7d10``. It changes with the text of the entry.
    id: str
    #: The note.
    note: str
    #: How good it is; only comparable within one answer.
    score: float
    #: How strictly it was found.
    tier: str
    #: The part of the entry that matters, or a placeholder if it tries to steer an agent.
    snippet: str
    #: What in the snippet met the query: first character and the one after the last.
    highlights: list[tuple[int, int]]
    #: When the entry was written.
    at: datetime
    #: Whether a program wrote the note from other texts, so that it proves nothing.
    generated: bool = False
    #: Why it ranked where it did.
    trace: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> NoteHit:
        moments(native, ["at"])
        native["highlights"] = [(one[0], one[1]) for one in native["highlights"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class NoteInfo:
    """A note without its text."""

    #: Its name.
    name: str
    #: Characters of its text, without spaces and line ends around it.
    chars: int
    #: Changes with the text.
    etag: str
    #: When it was last changed.
    updated_at: datetime
    #: The most characters it may have, if it has a budget.
    limit: int | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> NoteInfo:
        moments(native, ["updated_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class NotePrompt:
    """The notes for a prompt. The text stays the same for one revision."""

    #: The blocks one after the other; empty if no note has anything to show.
    text: str
    #: The notes shown, each with its block.
    blocks: list[NoteBlock] = field(default_factory=list)
    #: The revision that the text is of.
    revision: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> NotePrompt:
        if native.get("blocks") is not None:
            native["blocks"] = [NoteBlock._from(one) for one in native["blocks"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class NotesDiff:
    """The difference between two revisions."""

    #: The older revision.
    old: str | None = None
    #: The newer revision.
    new: str | None = None
    #: The difference of each changed note.
    diffs: list[NoteDiff] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> NotesDiff:
        if native.get("diffs") is not None:
            native["diffs"] = [NoteDiff._from(one) for one in native["diffs"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Omitted:
    """What a window leaves out."""

    #: Messages that are neither shown nor under a summary that is.
    messages: int = 0
    #: Their tokens.
    tokens: int = 0
    #: The first of them; the window names the range, and it can be expanded.
    first: int | None = None
    #: The last of them.
    last: int | None = None
    #: Messages that are shown in their short form.
    shortened: list[int] = field(default_factory=list)
    #: Calls whose results are not there yet, with what belongs to them.
    pending: list[int] = field(default_factory=list)
    #: Results of calls that are not there.
    unpaired: list[int] = field(default_factory=list)
    #: Why anything is left out.
    reason: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Omitted:
        return cls(**known(cls, native))


@dataclass(slots=True)
class Operation:
    """One recorded change."""

    #: Its id.
    id: str
    #: What kind of thing changed and how, such as ``memory.promote``.
    kind: str
    #: When it was recorded.
    at: datetime
    #: The id of the store it was recorded in.
    store_id: str
    #: Who did it.
    actor: dict[str, Any] = field(default_factory=dict)
    #: What changed.
    subject: dict[str, Any] = field(default_factory=dict)
    #: The changed fields before; null if the subject did not exist.
    before: Any = None
    #: The changed fields after; null if the subject does not exist any more.
    after: Any = None
    #: Why.
    reason: str | None = None
    #: The group it belongs to; a group can be undone together.
    group: str | None = None
    #: The operation that it undoes.
    undoes: str | None = None
    #: The operation that undid it.
    undone_by: str | None = None
    #: Whether its content was erased.
    erased: bool = False

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Operation:
        moments(native, ["at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Pack:
    """Lines of memory for a prompt. It is empty if nothing is relevant."""

    #: Its id, by which it is shown again for 30 days.
    id: str
    #: The lines, delimited as data; empty if there are none. The same lines give the same text.
    text: str
    #: Tokens of the text.
    tokens: int = 0
    #: The lines, in their order.
    items: list[PackItem] = field(default_factory=list)
    #: What was considered and left out.
    omitted: list[PackOmission] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Pack:
        if native.get("items") is not None:
            native["items"] = [PackItem._from(one) for one in native["items"]]
        if native.get("omitted") is not None:
            native["omitted"] = [PackOmission._from(one) for one in native["omitted"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class PackItem:
    """A line of a pack."""

    #: What it is.
    kind: str
    #: The id of the fact, the memory or the message.
    id: str
    #: The line as it is in the text, without its id and date.
    text: str
    #: Its part of the pack.
    band: str
    #: Since when it holds, or when it was said.
    at: datetime

    @classmethod
    def _from(cls, native: dict[str, Any]) -> PackItem:
        moments(native, ["at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class PackOmission:
    """A line that is not in a pack."""

    #: What it is.
    kind: str
    #: The id of the fact, the memory or the message.
    id: str
    #: The part of the pack it would be in.
    band: str
    #: Why it is left out.
    reason: str

    @classmethod
    def _from(cls, native: dict[str, Any]) -> PackOmission:
        return cls(**known(cls, native))


@dataclass(slots=True)
class ProjectState:
    """A fact of a project, set by a person."""

    #: Its id.
    id: str
    #: The project.
    project: str
    #: Its name in the project.
    key: str
    #: What it is.
    kind: str
    #: The value.
    value: str
    #: Since when it holds.
    since: datetime
    #: When it stopped holding.
    until: datetime | None = None
    #: The fact that replaced it.
    superseded_by: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> ProjectState:
        moments(native, ["since", "until"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Pruned:
    """The answer to a prune."""

    #: Whether nothing was removed.
    dry_run: bool = False
    #: The sessions that are gone: the one named and the delegates under it.
    sessions: list[str] = field(default_factory=list)
    #: Sessions that lost their parent.
    orphaned: list[str] = field(default_factory=list)
    #: How many messages went with them.
    messages: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Pruned:
        return cls(**known(cls, native))


@dataclass(slots=True)
class RegisteredProject:
    """A project that memories and state belong to."""

    #: Its name.
    name: str
    #: Other names, which are replaced by the name wherever they are given.
    aliases: list[str]
    #: When it was registered.
    created_at: datetime
    #: Its folder.
    root: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> RegisteredProject:
        moments(native, ["created_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Reinforced:
    """The answer to a reinforcement."""

    #: The memory as it is now.
    memory: Memory
    #: Whether the signal was new.
    is_new: bool = False
    #: The confidence before.
    old_confidence: float = 0.0
    #: The confidence now.
    new_confidence: float = 0.0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Reinforced:
        native["memory"] = Memory._from(native["memory"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class ReinforcedMemory:
    """A memory that a response rests on."""

    #: The memory.
    id: str
    #: Its confidence before.
    old_confidence: float = 0.0
    #: Its confidence now.
    new_confidence: float = 0.0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> ReinforcedMemory:
        return cls(**known(cls, native))


@dataclass(slots=True)
class RelatedMemory:
    """A memory that relates to another."""

    #: The other memory.
    id: str
    #: Its statement.
    content: str
    #: Its status.
    status: str
    #: How they relate.
    relation: str
    #: How much of their words they share, between 0 and 1.
    overlap: float
    #: Why.
    reason: str
    #: When the other was created.
    created_at: datetime

    @classmethod
    def _from(cls, native: dict[str, Any]) -> RelatedMemory:
        moments(native, ["created_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Remembered:
    """The answer to a new memory."""

    #: The memory, or the one with the same statement that got the new evidence.
    memory: Memory
    #: Whether the statement was known before.
    is_duplicate: bool
    #: Why it has its status.
    explanation: str
    #: Memories that this one contradicts.
    contradicts: list[RelatedMemory] = field(default_factory=list)
    #: The operation that recorded it; null if nothing changed.
    operation: str | None = None
    #: The group of that operation and of what it changed elsewhere, which undoes them together.
    group: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Remembered:
        native["memory"] = Memory._from(native["memory"])
        if native.get("contradicts") is not None:
            native["contradicts"] = [RelatedMemory._from(one) for one in native["contradicts"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Revision:
    """One commit of the notes."""

    #: Its id.
    id: str
    #: When it was made.
    at: datetime
    #: Who made it: the program, or where it came in.
    author: str
    #: What kind of actor made it.
    author_kind: str
    #: What it says about itself.
    message: str
    #: The revision before it; null for the empty one that every history starts with.
    parent: str | None = None
    #: The names of the notes that it changed.
    notes: list[str] = field(default_factory=list)
    #: The dream that made it.
    dream_id: str | None = None
    #: The revision that undid it.
    undone_by: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Revision:
        moments(native, ["at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class RevisionDetail:
    """A revision with what it changed."""

    #: Its id.
    id: str
    #: When it was made.
    at: datetime
    #: Who made it: the program, or where it came in.
    author: str
    #: What kind of actor made it.
    author_kind: str
    #: What it says about itself.
    message: str
    #: The revision before it; null for the empty one that every history starts with.
    parent: str | None = None
    #: The names of the notes that it changed.
    notes: list[str] = field(default_factory=list)
    #: The dream that made it.
    dream_id: str | None = None
    #: The difference that it made to each note.
    diffs: list[NoteDiff] = field(default_factory=list)
    #: The revision that undid it.
    undone_by: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> RevisionDetail:
        moments(native, ["at"])
        if native.get("diffs") is not None:
            native["diffs"] = [NoteDiff._from(one) for one in native["diffs"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Rewound:
    """The answer to a rewind."""

    #: How many messages were taken back.
    rewound: int
    #: The message that was rewound to. It is hidden too, so that it can be sent again.
    target: Message
    #: The last message that is still there.
    head: int | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Rewound:
        native["target"] = message_from(native["target"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Session:
    """A stored session."""

    #: The caller's id.
    id: str
    #: Where the conversation happens.
    source: str
    #: When it began.
    started_at: datetime
    #: When something was last said.
    last_active_at: datetime
    #: Who the agent talks to.
    user_id: str | None = None
    #: The model.
    model: str | None = None
    #: Settings of the model.
    model_config: Any = None
    #: The system prompt; left out of lists.
    system_prompt: str | None = None
    #: The session this one descends from.
    parent_id: str | None = None
    #: How it descends.
    lineage: str | None = None
    #: Its title.
    title: str | None = None
    #: The project it belongs to.
    project: str | None = None
    #: The working directory.
    cwd: str | None = None
    #: Anything else the host knows.
    metadata: dict[str, Any] = field(default_factory=dict)
    #: When it ended.
    ended_at: datetime | None = None
    #: Why it ended.
    end_reason: str | None = None
    #: Whether it is archived.
    archived: bool = False
    #: Messages that are not rewound.
    message_count: int = 0
    #: Tool calls made in them.
    tool_call_count: int = 0
    #: Input tokens used.
    input_tokens: int = 0
    #: Output tokens used.
    output_tokens: int = 0
    #: Input tokens read from the provider's cache.
    cache_read_tokens: int = 0
    #: Input tokens written to the provider's cache.
    cache_write_tokens: int = 0
    #: Tokens spent on reasoning.
    reasoning_tokens: int = 0
    #: Calls of the model.
    api_call_count: int = 0
    #: What it cost by our estimate, in US dollars.
    estimated_cost_usd: float = 0.0
    #: What it cost by the provider's account, in US dollars.
    actual_cost_usd: float = 0.0
    #: How often it was rewound.
    rewind_count: int = 0
    #: The beginning of the first thing the person said.
    preview: str | None = None
    #: In a list of conversations, where the chain that ends in this session began.
    root_id: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Session:
        moments(native, ["started_at", "last_active_at", "ended_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class SignalCount:
    """How many signals of a kind a memory has."""

    #: The kind.
    kind: str
    #: How many.
    count: int = 0

    @classmethod
    def _from(cls, native: dict[str, Any]) -> SignalCount:
        return cls(**known(cls, native))


@dataclass(slots=True)
class Summary:
    """A node of the summary DAG."""

    #: Its id.
    id: str
    #: The session it belongs to.
    session_id: str
    #: What it covers.
    kind: str
    #: 0 for what covers messages; one more than the deepest it covers otherwise.
    depth: int
    #: How it was made.
    level: str
    #: The words.
    content: str
    #: What it costs in a window, markup included.
    tokens: int
    #: Tokens of what it covers directly.
    source_tokens: int
    #: How many messages are under it.
    message_count: int
    #: Tokens of the messages under it.
    message_tokens: int
    #: When the first of them was said.
    earliest_at: datetime
    #: When the last of them was said.
    latest_at: datetime
    #: When it was made.
    created_at: datetime
    #: The model that wrote it.
    model: str | None = None
    #: The first message under it.
    first_message: int | None = None
    #: The last message under it.
    last_message: int | None = None
    #: The summaries it covers.
    children: list[str] = field(default_factory=list)
    #: The summaries that cover it.
    parents: list[str] = field(default_factory=list)
    #: Whether it is a root: no other summary of its session covers it, but for overviews.
    in_context: bool = False

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Summary:
        moments(native, ["earliest_at", "latest_at", "created_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class SummaryHit:
    """A summary that was found."""

    #: What it is.
    kind: str
    #: Its id.
    id: str
    #: Its session.
    session_id: str
    #: What it covers.
    summary_kind: str
    #: How many levels of summaries are below it.
    depth: int
    #: How well it meets the pattern.
    score: float
    #: The part that shows why.
    snippet: str
    #: When the first of what it covers was said.
    earliest_at: datetime
    #: When the last of it was said.
    at: datetime
    #: The project of its session.
    project: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> SummaryHit:
        moments(native, ["earliest_at", "at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class SyncedMount:
    """What keeping a mount in sync did."""

    #: Its id, which its marker file ``.oneiro/mount`` has too.
    id: str
    #: The folder.
    path: str
    #: Which of its files are notes.
    layout: str
    #: Whether its files are kept in sync.
    state: str
    #: How many of its files are in sync.
    files: int
    #: When it was mounted.
    created_at: datetime
    #: Why they are not.
    reason: str | None = None
    #: Notes that got the text of their file, or were deleted with it.
    taken: list[str] = field(default_factory=list)
    #: Notes whose file was written or deleted.
    written: list[str] = field(default_factory=list)
    #: Notes of which both texts were kept; those whose copy is still there.
    conflicts: list[FileConflict] = field(default_factory=list)
    #: Files that are not kept in sync.
    problems: list[FileProblem] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> SyncedMount:
        moments(native, ["created_at"])
        if native.get("conflicts") is not None:
            native["conflicts"] = [FileConflict._from(one) for one in native["conflicts"]]
        if native.get("problems") is not None:
            native["problems"] = [FileProblem._from(one) for one in native["problems"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Undone:
    """The answer to an undo."""

    #: The operations that reverse the undone ones.
    operations: list[Operation] = field(default_factory=list)
    #: Their group, if they are several.
    group: str | None = None
    #: The revision that they make, if they change notes.
    revision: str | None = None

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Undone:
        if native.get("operations") is not None:
            native["operations"] = [Operation._from(one) for one in native["operations"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Usage:
    """One account of a session."""

    #: The model, empty when unknown.
    model: str
    #: Who bills, empty when unknown.
    provider: str
    #: The provider's address, empty when unknown.
    base_url: str
    #: How it bills (api, subscription ...), empty when unknown.
    billing_mode: str
    #: What the tokens were for; empty for the conversation itself.
    task: str
    #: Calls of the model.
    api_calls: int
    #: Input tokens.
    input_tokens: int
    #: Output tokens.
    output_tokens: int
    #: Input tokens read from the provider's cache.
    cache_read_tokens: int
    #: Input tokens written to the provider's cache.
    cache_write_tokens: int
    #: Tokens spent on reasoning.
    reasoning_tokens: int
    #: Estimated cost in US dollars.
    estimated_cost_usd: float
    #: Cost by the provider's account in US dollars.
    actual_cost_usd: float
    #: First charged.
    first_at: datetime
    #: Last charged.
    last_at: datetime

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Usage:
        moments(native, ["first_at", "last_at"])
        return cls(**known(cls, native))


@dataclass(slots=True)
class Why:
    """Why something is believed: a tree from the memory down to its sources."""

    #: What the node is.
    kind: str
    #: Its id.
    id: str
    #: Its text.
    text: str
    #: When it was said or done.
    at: datetime | None = None
    #: What it rests on.
    children: list[Why] = field(default_factory=list)
    #: Who did it.
    actor: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Why:
        moments(native, ["at"])
        if native.get("children") is not None:
            native["children"] = [Why._from(one) for one in native["children"]]
        return cls(**known(cls, native))


@dataclass(slots=True)
class Window:
    """The assembled content of a prompt."""

    #: The messages, as the provider takes them.
    messages: list[dict[str, Any]]
    #: What the window costs; the reserve is not in it.
    tokens: int
    #: The budget that was asked for.
    budget: int
    #: What of it was kept free.
    reserve: int
    #: The summaries it shows, oldest first.
    summaries: list[str]
    #: What it leaves out.
    omitted: Omitted
    #: Equal for two windows of a session when the later one begins with the earlier.
    prefix_hash: str
    #: The system text, where the provider takes it apart from the messages.
    system: str | None = None
    #: The whole window as text, for the format ``text``.
    text: str | None = None
    #: By how much the window is over its budget: its newest turn alone is larger.
    over_budget: int = 0
    #: Why the window does not begin with the one that was assembled before it, and what that costs.
    broke: dict[str, Any] = field(default_factory=dict)
    #: Every item, and why it is in or out.
    items: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def _from(cls, native: dict[str, Any]) -> Window:
        native["omitted"] = Omitted._from(native["omitted"])
        return cls(**known(cls, native))
