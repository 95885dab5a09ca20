"""Memories from Python: an embedding program is an agent, so it proposes and does not promote."""

from __future__ import annotations

import oneiro
import pytest


def test_a_memory_is_proposed_explained_and_undone(memory: oneiro.Oneiro) -> None:
    memory.append("s", [{"role": "user", "content": "the tea is in the blue tin"}], create={})
    kept = memory.remember("Tea is in the blue tin", quote="tea is in the blue tin", tags=["tea"])
    assert (kept.memory.status, kept.memory.trust, kept.memory.tags) == ("active", "agent", ["tea"])
    guess = memory.remember("There is coffee", subject="kitchen")
    assert guess.memory.status == "candidate"
    with pytest.raises(oneiro.PermissionError_):
        memory.promote_memory(guess.memory.id)
    assert [one.id for one in memory.memories(status="candidate").items] == [guess.memory.id]
    assert memory.memory(kept.memory.id[:12], explain=True).explanation is not None
    assert memory.why(kept.memory.id).children[0].kind == "quote"
    rejected = memory.reject_memory(guess.memory.id, reason="a guess")
    assert rejected.operation is not None
    memory.undo(rejected.operation)
    assert memory.memory(guess.memory.id).status == "candidate"
    kinds = [one.kind for one in memory.memory_history(guess.memory.id).items]
    assert kinds == ["memory.create", "memory.reject", "memory.undo"]
    assert memory.operations(kind="memory.undo").items[0].undoes == rejected.operation
    edited = memory.edit_memory(guess.memory.id, content="There is decaf", subject=None)
    assert (edited.content, edited.subject) == ("There is decaf", None)
    used = memory.reinforce_memory(kept.memory.id, query="where is the tea?")
    assert (used.old_confidence, used.new_confidence) == (0.7, 0.72)
    assert memory.forget_memories(session="s", dry_run=True).memories[0].id == kept.memory.id
    assert memory.forget_memory(kept.memory.id).status == "invalid"


def test_what_is_for_people_is_refused(memory: oneiro.Oneiro) -> None:
    one = memory.remember("a candidate").memory.id
    for call in (
        lambda: memory.confirm_memory(one),
        lambda: memory.supersede_memory(one, "another"),
        lambda: memory.merge_memory(one, one),
        lambda: memory.review_memories("promote"),
        lambda: memory.distrust(source="web"),
        lambda: memory.register_project("atlas", aliases=["at"]),
        lambda: memory.set_state("atlas", "status", "green"),
        lambda: memory.end_state("atlas", "status"),
    ):
        with pytest.raises(oneiro.PermissionError_):
            call()
    assert memory.projects() == []
    assert memory.project_state("atlas") == []


def test_packs_are_listed_explained_and_measured(memory: oneiro.Oneiro) -> None:
    said = "The staging database of the garden runs on port 5433"
    memory.append("s", [{"role": "user", "content": said}], create={})
    kept = memory.remember(said, quote=said, kind="knowledge").memory
    prompt = "On which port does the staging database of the garden run?"
    for _ in range(8):
        made = memory.pack(prompt, project="garden", session="asking")
        assert [item.id for item in made.items] == [kept.id]
    muted = memory.pack(prompt, project="garden", session="asking")
    assert [one.reason for one in muted.omitted if one.id == kept.id] == ["muted"]
    assert [pack.lines for pack in memory.packs(session="asking", limit=2)] == [0, 1]
    why = memory.why_pack(session="asking")
    assert why.pack is not None and why.pack.id == made.id
    assert (why.lines[0].id, why.lines[0].why.kind) == (kept.id, "memory")
    stats = memory.memory_stats(days=7)
    assert (stats.packs, stats.empty_packs, stats.memory_lines, stats.used) == (8, 1, 8, 0)
    assert [one.id for one in stats.muted] == [kept.id]
    assert memory.memory(kept.id).muted_in == ["garden"]
    assert not memory.unmute_memory(kept.id).muted_in
    assert memory.memory_stats(project="garden").muted == []


def test_turns_are_interactions(memory: oneiro.Oneiro) -> None:
    turns = [("user", "Where is the key?"), ("assistant", "Under the mat."), ("user", "And then?")]
    memory.append("s", [{"role": role, "content": text} for role, text in turns], create={})
    (turn,) = memory.interactions(session="s")
    assert (turn.prompt, turn.response) == ("Where is the key?", None)
    assert memory.interaction(turn.id).response == "Under the mat."


def test_a_candidate_of_a_dream_is_explained(memory: oneiro.Oneiro) -> None:
    for session in ("monday", "tuesday"):
        said = {"role": "user", "content": "I'm allergic to peanuts."}
        memory.append(session, [said], create={})
    memory.extract()
    memory.dream()
    (candidate,) = memory.dream_candidates().items
    explained = memory.explain_candidate(candidate.id)
    assert (explained.claim, explained.decision) == ("I'm allergic to peanuts.", "waiting")
    assert (explained.gate, explained.thresholds.min_recall_count) == ("recalls", 3)
    assert [one.kind for one in explained.counted] == ["statement", "statement"]
    assert (explained.promotion, explained.line) == (None, None)
