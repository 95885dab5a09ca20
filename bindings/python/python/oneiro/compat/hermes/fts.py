"""Search queries as hermes takes them, turned into Oneiro's query language.

Owns the reading of an FTS query (words, phrases, prefixes, AND, OR, NOT, and parentheses where
the generation has them) and what punctuation means in it. No text a person types is an error:
what makes no sense counts for nothing. It must not know sessions, rows or the store.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

# Longer queries are pasted text; what comes after this says nothing new.
MAX_QUERY_CHARS = 2048

_OPERATORS = frozenset({"AND", "OR", "NOT"})
# These join words into one name: `chat-send`, `P2.2`, `my_app.config.ts`, `what's`.
_JOINERS = frozenset(".-_'\u2019")
# Deeper parentheses say nothing that a person means.
_DEEPEST = 50

_SPECIAL = r'[+{}():"^]'
_STARS = r"\*+"
_LONE_STAR = r"(?<!\S)\*"
_LEADING = re.compile(r"^(?:AND|OR|NOT)\b\s*", re.IGNORECASE)
_TRAILING = re.compile(r"\s+(?:AND|OR|NOT)$", re.IGNORECASE)
_NAME = r"\w+(?:[._-]\w+)+"


@dataclass(frozen=True)
class Term:
    """A word, several in a row, or the beginning of a word."""

    text: str
    is_prefix: bool = False


@dataclass(frozen=True)
class Joined:
    """Parts of which all (`AND`), any (`OR`), or the first and none of the others (`NOT`) hold."""

    operator: str
    parts: tuple[Expr, ...]


Expr = Term | Joined
_Token = Term | str


def parse(query: str, *, groups: bool = False) -> Expr | None:
    """Reads a query; None when there is no word in it. With `groups`, parentheses group."""
    # Lone surrogates are no text that anything could have been stored as.
    text = _cut(query).encode(errors="replace").decode()
    tokens = _cleaned(list(_tokens(text, groups)))
    return _Parser(tokens).either() if tokens else None


def printed(expr: Expr) -> str:
    """The query in Oneiro's language; in parentheses, so that it is taken exactly."""
    if isinstance(expr, Term):
        return f"({_term(expr)})"
    first, *rest = (_term(part) if isinstance(part, Term) else printed(part) for part in expr.parts)
    between = " AND NOT " if expr.operator == "NOT" else f" {expr.operator} "
    return f"({between.join([first, *rest])})"


def loosened(expr: Expr) -> Expr:
    """The query that is asked where words of one or two CJK characters stand side by side: any
    of them is enough, since such words are often one word cut in two."""
    if not isinstance(expr, Joined) or expr.operator != "AND":
        return expr
    terms = [part for part in expr.parts if isinstance(part, Term)]
    if len(terms) != len(expr.parts) or not any(_is_short_cjk(term.text) for term in terms):
        return expr
    return Joined("OR", expr.parts)


def loose(expr: Expr) -> str:
    """The query as a question: its words, of which the engine weighs each. What is refused stays
    refused."""
    if _refuses(expr):
        return printed(expr)
    return " ".join(word for term in terms(expr) for word in words(term.text))


def _refuses(expr: Expr) -> bool:
    return isinstance(expr, Joined) and (expr.operator == "NOT" or any(map(_refuses, expr.parts)))


def holds(expr: Expr, text: str) -> bool:
    """Whether a text meets a query, told without an index."""
    if isinstance(expr, Term):
        return _occurs(expr, words(text), text)
    first, *rest = (holds(part, text) for part in expr.parts)
    if expr.operator == "OR":
        return first or any(rest)
    return first and (all(rest) if expr.operator == "AND" else not any(rest))


def terms(expr: Expr) -> Iterator[Term]:
    """The terms that are wanted, in order."""
    if isinstance(expr, Term):
        yield expr
        return
    for part in expr.parts[:1] if expr.operator == "NOT" else expr.parts:
        yield from terms(part)


def sanitised(query: str) -> str:
    """The query as hermes hands it to FTS5. Search here does not need it; hosts call it."""
    bare = query[:MAX_QUERY_CHARS]
    for pattern, instead in ((_SPECIAL, " "), (_STARS, "*"), (_LONE_STAR, "")):
        bare = _outside_quotes(pattern, instead, bare)
    bare = _TRAILING.sub("", _LEADING.sub("", bare.strip()))
    return _outside_quotes(_NAME, '"{}"', bare).strip()


def _outside_quotes(pattern: str, instead: str, text: str) -> str:
    """The text with what matches replaced, but for what is quoted."""
    parts = re.compile(f'("[^"]*")|({pattern})')
    return parts.sub(lambda found: found[1] or instead.format(found[2]), text)


def words(text: str) -> list[str]:
    """The words of a text, without case and marks."""
    bare = unicodedata.normalize("NFKD", text.casefold())
    kept = (c if c.isalnum() else "" if unicodedata.combining(c) else " " for c in bare)
    return "".join(kept).split()


def is_cjk(letter: str) -> bool:
    """Whether a character belongs to a script that is written without spaces."""
    point = ord(letter)
    return (
        0x2E80 <= point <= 0x30FF
        or 0x3400 <= point <= 0x4DBF
        or 0x4E00 <= point <= 0x9FFF
        or 0xAC00 <= point <= 0xD7AF
        or 0xF900 <= point <= 0xFAFF
        or 0x20000 <= point <= 0x3FFFF
    )


def _cut(query: str) -> str:
    """The query up to its limit, and no part of a word that reaches beyond."""
    if len(query) <= MAX_QUERY_CHARS:
        return query
    kept = query[: MAX_QUERY_CHARS + 1]
    words = kept.rsplit(None, 1)
    return words[0] if len(words) == 2 else kept[:MAX_QUERY_CHARS]


def _is_short_cjk(text: str) -> bool:
    return 0 < sum(map(is_cjk, text)) < 3


def _occurs(term: Term, found: list[str], text: str) -> bool:
    if any(map(is_cjk, term.text)):
        return term.text.casefold() in text.casefold()
    wanted = words(term.text)
    if term.is_prefix:
        return any(word.startswith("".join(wanted)) for word in found)
    count = len(wanted)
    return any(found[at : at + count] == wanted for at in range(len(found) - count + 1))


def _term(term: Term) -> str:
    has_cjk = any(map(is_cjk, term.text))
    if term.is_prefix and not has_cjk:
        return f"{term.text}*"
    if term.text.isalnum() and not has_cjk and term.text not in _OPERATORS:
        return term.text
    return '"' + term.text.replace('"', " ") + '"'


def _is_word(letter: str) -> bool:
    # Pictographs are words to Oneiro; marks belong to the letter before them.
    if letter.isalnum():
        return True
    return letter > "\x7f" and unicodedata.category(letter) in ("Mn", "Mc", "So")


def _tokens(query: str, groups: bool) -> Iterator[_Token]:
    at = 0
    while at < len(query):
        letter = query[at]
        if letter == '"':
            end = query.find('"', at + 1)
            if end < 0:
                at += 1
                continue
            quoted = " ".join(query[at + 1 : end].split())
            at = end + 1
            if any(map(_is_word, quoted)):
                is_prefix = query[at : at + 1] == "*" and quoted.isalnum()
                yield Term(quoted, is_prefix)
        elif groups and letter in "()":
            at += 1
            yield letter
        elif _is_word(letter):
            end = _end_of_word(query, at)
            word = query[at:end]
            is_prefix = query[end : end + 1] == "*"
            at = end
            if word in _OPERATORS and not is_prefix:
                yield word
            else:
                yield Term(word, is_prefix)
        else:
            at += 1


def _end_of_word(query: str, start: int) -> int:
    """Where the word that begins here ends; joiners count between word characters only."""
    at = start
    while at < len(query):
        is_joiner = query[at] in _JOINERS and at + 1 < len(query) and _is_word(query[at + 1])
        if not is_joiner and not _is_word(query[at]):
            break
        at += 1
    return at


def _cleaned(tokens: list[_Token]) -> list[_Token]:
    """The tokens without parentheses and operators that lack what they belong to."""
    kept: list[_Token] = []
    depth = 0
    for token in tokens:
        if token == "(":
            if depth == _DEEPEST:
                continue
            depth += 1
        elif token == ")":
            if not depth:
                continue
            depth -= 1
            while kept and kept[-1] in _OPERATORS:
                kept.pop()
            if kept and kept[-1] == "(":
                kept.pop()
                continue
        elif token in _OPERATORS:
            if not kept or kept[-1] == "(":
                continue
            if kept[-1] in _OPERATORS:
                kept.pop()
        kept.append(token)
    while kept and (kept[-1] in _OPERATORS or kept[-1] == "("):
        depth -= kept.pop() == "("
    kept.extend(")" * depth)
    return kept


class _Parser:
    """Reads cleaned tokens. Words side by side bind closest, then NOT, AND and OR."""

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0

    def either(self) -> Expr:
        return self._list("OR", self._all)

    def _all(self) -> Expr:
        return self._list("AND", self._but)

    def _but(self) -> Expr:
        return self._list("NOT", self._run)

    def _run(self) -> Expr:
        parts = [self._one()]
        while self._peek() == "(" or isinstance(self._peek(), Term):
            parts.append(self._one())
        return parts[0] if len(parts) == 1 else Joined("AND", tuple(parts))

    def _one(self) -> Expr:
        token = self._next()
        if isinstance(token, Term):
            return token
        inside = self.either()
        self._next()
        return inside

    def _list(self, operator: str, read) -> Expr:  # type: ignore[no-untyped-def]
        parts = [read()]
        while self._peek() == operator:
            self._next()
            parts.append(read())
        if len(parts) == 1:
            return parts[0]  # type: ignore[no-any-return]
        return Joined(operator, tuple(parts))

    def _peek(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _next(self) -> _Token | None:
        token = self._peek()
        self._at += 1
        return token
