"""Measure row tables alone on the dev half of LoCoMo (conversations 0, 2, 4, 6, 8).

For measuring only: nothing here feeds back into counts or rows. One document per turn (text plus
image caption), the question without the two speakers' names, categories 1-4, r@10 = mean fraction
of the evidence turns among the ten nearest of the conversation.
"""

import json
import re
from pathlib import Path

import numpy as np

DEV = (0, 2, 4, 6, 8)


def questions(path, conversations=DEV):
    """[(texts of turns, [(question, indices of evidence)])] for each conversation."""
    out = []
    data = json.loads(Path(path).read_text(encoding="utf-8"))
    for n in conversations:
        talk = data[n]["conversation"]
        place, texts = {}, []
        for key in sorted((k for k in talk if re.fullmatch(r"session_\d+", k)), key=lambda k: int(k[8:])):
            for turn in talk[key]:
                place[turn["dia_id"]] = len(texts)
                texts.append((turn.get("text", "") + " " + turn.get("blip_caption", "")).strip())
        names = "|".join(re.escape(talk[k]) for k in ("speaker_a", "speaker_b"))
        asked = []
        for qa in data[n]["qa"]:
            if qa["category"] not in (1, 2, 3, 4):
                continue
            ids = {m.replace(" ", "") for e in qa.get("evidence", []) for m in re.findall(r"D\d+:\d+", str(e))}
            hits = sorted({place[i] for i in ids if i in place})
            if hits:
                asked.append((re.sub(rf"\b({names})(?:'s)?\b", " ", qa["question"], flags=re.I), hits))
        out.append((texts, asked))
    return out


def recall(sets, embed, at=10):
    """`embed` turns a list of texts into normalised rows."""
    found = []
    for texts, asked in sets:
        d, q = embed(texts), embed([a[0] for a in asked])
        top = np.argsort(-(q @ d.T), axis=1, kind="stable")[:, :at]
        found += [len(set(t) & set(h)) / len(h) for t, (_, h) in zip(top.tolist(), asked, strict=True)]
    return 100 * float(np.mean(found)), len(found)
