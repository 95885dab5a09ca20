"""What the stores are fed and asked: messages of 60 made-up words, Zipf-distributed, from a fixed
seed, and questions in the words of those messages. The generator is that of bench/peers."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peers"))

from session_store import make_texts, make_vocabulary

__all__ = ["LONG", "conversations", "role", "session_id", "terms", "texts", "typed"]

#: Messages of the conversation that is read back, and of every other.
LONG, USUAL = 120, 100
QUESTIONS = 60
SEED = 4747

# The most frequent made-up words stand where English has what, did, the and is, so that questions
# have answers; a question in words that no message has is answered by a look at the vocabulary.
SHAPES = (
    "{a} {b} {c} {0} {d} {1}?",
    "{a}, {b} {0}-{1} {c}?",
    "{0}: {a} {b} {1}, {c} {d}?",
    "{a}! {b} {c} {0} {d} {1}!",
    "({0}) {a} {b} {c} {1} {d}...",
)


def texts(count: int, seed: int = SEED) -> list[str]:
    """This many messages."""
    return list(make_texts(count, seed))


def role(place: int) -> str:
    """Who says the message at this place."""
    return "assistant" if place % 2 else "user"


def session_id(number: int) -> str:
    """The id of a session."""
    return f"session-{number:06}"


def conversations(count: int) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Whole conversations with this many messages in all; the first is the long one."""
    made = make_texts(count, SEED)
    number = left = 0
    for number in range(count):
        size = min(LONG if number == 0 else USUAL, count - left)
        if size <= 0:
            return
        yield session_id(number), [(role(place), next(made)) for place in range(size)]
        left += size


def _pairs() -> list[tuple[str, str]]:
    """Two words each: of the frequent, the usual and the rare, in turn."""
    words, _ = make_vocabulary()
    ranks = ((5, 50), (50, 500), (500, 4000))
    draw = random.Random(SEED)
    return [
        (words[draw.randrange(*ranks[place % 3])], words[draw.randrange(*ranks[(place + 1) % 3])])
        for place in range(QUESTIONS)
    ]


def typed() -> list[str]:
    """Questions as people type them, with the punctuation of people."""
    words, _ = make_vocabulary()
    small = dict(zip("abcd", words, strict=False))
    return [
        SHAPES[place % len(SHAPES)].format(*pair, **small) for place, pair in enumerate(_pairs())
    ]


def terms() -> list[str]:
    """The same as bare words."""
    return [" ".join(pair) for pair in _pairs()]
