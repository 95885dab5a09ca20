"""The file the crate compiles in: written here, read here once more for checking.

Little-endian; every section starts at a multiple of 64 bytes, in this order:

    header   magic `ONEIROSM`, u32 version (1), dims, rows, words, longest, slots, text bytes,
             f32 rarity step; zeros up to 64
    mean     f32 x dims        mean of the normalised vectors of typical texts
    groups   (u32 row, u32 byte) x 2 x (longest + 1) + 1
                               where the entries of a kind and length start; kind 0 is words,
                               kind 1 continuations; the last pair is the end
    slots    u16 x slots       open hash table of row + 1, 0 is empty
    scales   f32 x rows        one unit of a row's int8
    norms    u16 x words       length of the first 96 numbers of the row of a word, in sixteenths
    rarity   u8 x rows         -ln p in steps
    text     bytes             the entries without `##`, one after the other
    heads    i8 x rows x 96    the first numbers of each row: the search for neighbours reads
                               only these, and memory is fastest in one stream
    tails    i8 x rows x rest  the others

Rows are ordered by kind, length in bytes, then bytes, so an entry's place follows from its row
and no offsets are stored. A slot is found by FNV-1a (32 bits) over the bytes from the seed of the
kind, folded, with linear probing.
"""

import struct

import numpy as np

MAGIC, VERSION, ALIGN = b"ONEIROSM", 1, 64
SEEDS = (0x811C9DC5, 0x9747B28C)
RARITY_STEP = 1.0 / 15.0
SLOTS = 1 << 16
HEAD = 96


def entry(token):
    """(kind, bytes) of a token of the teacher's vocabulary."""
    if token.startswith("##") and len(token) > 2:
        return 1, token[2:].encode()
    return 0, token.encode()


def reachable(tokenizer, token):
    """Whether any text can yield the token: it must survive normalising and splitting unchanged."""
    if token.startswith("[") and token.endswith("]") and len(token) > 2:
        return False
    kind, raw = entry(token)
    probe = ("a" if kind else "") + raw.decode()
    pieces = tokenizer.pre_tokenizer.pre_tokenize_str(tokenizer.normalizer.normalize_str(probe))
    return len(pieces) == 1 and pieces[0][0] == probe


def slot(kind, raw):
    h = SEEDS[kind]
    for byte in raw:
        h = ((h ^ byte) * 0x01000193) & 0xFFFFFFFF
    return (h ^ (h >> 16)) & (SLOTS - 1)


def quantise(rows):
    scales = np.maximum(np.abs(rows).max(1) / 127.0, 1e-12).astype(np.float32)
    return np.round(rows / scales[:, None]).clip(-127, 127).astype(np.int8), scales


def order(tokens):
    """The order of rows in the file, as indices into `tokens`."""
    keys = [(kind, len(raw), raw) for kind, raw in map(entry, tokens)]
    return sorted(range(len(tokens)), key=keys.__getitem__)


def write(path, tokens, table, scales, rarity, mean):
    """`tokens` already in `order`."""
    entries = [entry(t) for t in tokens]
    longest = max(len(raw) for _, raw in entries)
    groups, row, byte = [], 0, 0
    for kind in (0, 1):
        for length in range(longest + 1):
            groups.append((row, byte))
            while row < len(entries) and entries[row][0] == kind and len(entries[row][1]) == length:
                row, byte = row + 1, byte + length
    assert row == len(entries)
    groups.append((row, byte))
    slots = np.zeros(SLOTS, "<u2")
    for n, (kind, raw) in enumerate(entries):
        at = slot(kind, raw)
        while slots[at]:
            at = (at + 1) % SLOTS
        slots[at] = n + 1
    words = sum(kind == 0 for kind, _ in entries)
    text = b"".join(raw for _, raw in entries)
    dims = table.shape[1]
    header = MAGIC + struct.pack(
        "<7If", VERSION, dims, len(entries), words, longest, SLOTS, len(text), RARITY_STEP
    )
    steps = np.round(rarity / RARITY_STEP).clip(0, 255).astype(np.uint8)
    norms = np.round(np.linalg.norm(table[:words, :HEAD].astype(np.float64), axis=1) * 16)
    out = bytearray()
    for part in (
        header,
        mean.astype("<f4").tobytes(),
        np.array(groups, "<u4").tobytes(),
        slots.tobytes(),
        scales.astype("<f4").tobytes(),
        norms.astype("<u2").tobytes(),
        steps.tobytes(),
        text,
        table[:, :HEAD].tobytes(),
        table[:, HEAD:].tobytes(),
    ):
        out += b"\0" * (-len(out) % ALIGN) + part
    assert len(out) <= 8_000_000, len(out)
    with open(path, "wb") as file:
        file.write(out)
    return len(out)
