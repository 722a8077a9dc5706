"""Make the example data in this folder: `python runs/make_example.py [--out DIR]`.

Everything is synthetic and follows from `SEED`, so a second run writes the same bytes. Two datasets
come out: `letor/`, learning-to-rank files with the predictions of five models, and `trec/`, a qrels
file with five runs.
"""

import argparse
import gzip
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import TruncatedSVD
from sklearn.linear_model import LinearRegression
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, normalize
from threadpoolctl import threadpool_limits
from tqdm import tqdm

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

SEED = 20240229
FOLDS, SEEDS = (1, 2), (1, 2)
N_TRAIN, N_TEST = 150, 50  # queries of a fold
GRADE_CUTS = (1.0, 2.0, 2.9, 3.8)  # the latent relevance from which a document has grade 1, 2, 3, 4
LIGHTGBM: dict[str, object] = {
    "learning_rate": 0.06,
    "num_leaves": 12,
    "num_threads": 1,
    "deterministic": True,
    "force_row_wise": True,
    "verbose": -1,
}

N_DOCS, N_WORDS, N_THEMES = 1500, 3000, 40  # the TREC collection
ABSENT = (7, 23)  # themes that people ask about, and no document has
QIDS = tuple(range(1, 31))
SHARE_CUTS = (0.15, 0.35, 0.6)  # the share of its theme from which a document has grade 1, 2, 3
DEPTH, POOL_DEPTH = 100, 20
UNANSWERED = ("lsi", 17)  # this run does not answer this query
DECIMALS = {"tfidf": 3}  # so few that scores tie
GZIPPED = "query-likelihood"


# Learning to rank


@dataclass(frozen=True)
class Queries:
    """Queries with their documents, the documents of a query in adjacent rows."""

    lengths: Ints
    features: Floats
    grades: Ints

    def take(self, index: Ints) -> "Queries":
        """The queries at `index`, in that order, repeats allowed."""
        starts = np.cumsum(self.lengths) - self.lengths
        rows = np.concatenate([np.arange(starts[i], starts[i] + self.lengths[i]) for i in index])
        return Queries(self.lengths[index], self.features[rows], self.grades[rows])


def draw_lengths(rng: np.random.Generator, n: int) -> Ints:
    """Heavy-tailed list lengths of `n` queries, with one list of 1 and one over 100 for certain."""
    lengths = np.clip(rng.lognormal(np.log(15), 0.9, n), 1, 150).astype(np.int64)
    lengths[lengths.argmin()] = 1
    lengths[lengths.argmax()] = rng.integers(110, 150)
    return lengths


def draw_documents(rng: np.random.Generator, lengths: Ints) -> tuple[Floats, Ints]:
    """Features, and grades from a non-linear latent relevance that the features show in part."""
    n = int(lengths.sum())
    match, title = rng.normal(size=(2, n))
    words = rng.lognormal(5.5, 0.8, n)
    links = rng.pareto(1.2, n)
    age = rng.uniform(size=n)
    rating = rng.integers(0, 5, n) / 4
    spam = rng.uniform(size=n) < 0.15
    news = np.repeat(rng.uniform(size=len(lengths)) < 0.4, lengths)
    appeal = np.repeat(rng.normal(0, 0.9, len(lengths)), lengths)  # how much there is to find
    latent = (
        0.5 * match
        + 0.9 * (title > 0.6)
        + 0.9 * np.exp(-2 * (np.log(words) - 5.5) ** 2)  # neither short nor long
        + 0.8 * (links > 2)
        + np.where(news, 1.4 * (0.5 - age), 1.0 * (age - 0.5))  # news must be new, the rest proven
        + 0.8 * rating * (match > 0)
        - 2.0 * spam
        + appeal
        - 0.7
    )
    noise = [rng.normal(size=n), rng.exponential(size=n), rng.integers(1, 9, n)]
    seen_match = match + rng.normal(0, 0.3, n)
    columns = [
        seen_match,
        title,
        words,
        links,
        age,
        news,
        rating,
        spam,
        match * rng.exponential(size=n),
        *noise,
    ]
    first = np.repeat(np.cumsum(lengths) - lengths, lengths) == np.arange(n)
    mirror = (rng.uniform(size=n) < 0.03) & ~first  # a copy of the document above it
    source = np.arange(n) - mirror
    latent = latent[source] + rng.normal(0, 0.4, n)  # what no feature shows
    return round_features(np.column_stack(columns)[source]), np.digitize(latent, GRADE_CUTS)


def round_features(features: Floats) -> Floats:
    """The values as the file shows them, so that models learn from and predict on those."""
    return np.array([[float(f"{x:.3g}") for x in row] for row in features.round(3) + 0.0])


def draw_fold(fold: int) -> Queries:
    """All queries of a fold, the test queries first."""
    rng = np.random.default_rng([SEED, fold])
    lengths = np.concatenate([draw_lengths(rng, N_TEST), draw_lengths(rng, N_TRAIN)])
    return Queries(lengths, *draw_documents(rng, lengths))


def letor_text(queries: Queries, qids: Ints) -> str:
    """The queries as a LETOR file."""
    row_qids = np.repeat(qids, queries.lengths)
    places = np.concatenate([np.arange(n) for n in queries.lengths])
    rows = zip(queries.grades, row_qids, queries.features, places, strict=True)
    lines = []
    for grade, qid, row, place in rows:
        features = " ".join(f"{i}:{x:g}" for i, x in enumerate(row, 1))
        lines.append(f"{grade} qid:{qid} {features} #docid = D{qid:04d}-{place:03d}\n")
    return "".join(lines)


def linear_regression(train: Queries, test: Floats, state: int) -> Floats:
    """Least squares on the grade."""
    return LinearRegression().fit(train.features, train.grades).predict(test)


def boosted_trees(objective: str, train: Queries, test: Floats, state: int) -> Floats:
    """Gradient-boosted trees on a LightGBM objective."""
    data = lightgbm.Dataset(train.features, train.grades, group=train.lengths)
    settings = LIGHTGBM | {"objective": objective, "seed": state}
    return np.asarray(lightgbm.train(settings, data, num_boost_round=120).predict(test))


def gbrt(train: Queries, test: Floats, state: int) -> Floats:
    """Gradient-boosted regression trees on the grade."""
    return boosted_trees("regression", train, test, state)


def lambdamart(train: Queries, test: Floats, state: int) -> Floats:
    """Gradient-boosted trees on the LambdaRank loss."""
    return boosted_trees("lambdarank", train, test, state)


def neural(train: Queries, test: Floats, state: int) -> Floats:
    """A small feed-forward network on the grade."""
    network = MLPRegressor(
        hidden_layer_sizes=(16,),
        learning_rate_init=0.005,
        max_iter=200,
        early_stopping=True,
        random_state=state,
    )
    return make_pipeline(StandardScaler(), network).fit(train.features, train.grades).predict(test)


def random_scores(train: Queries, test: Floats, state: int) -> Floats:
    """Scores that know nothing, on a grid of 0.01 so that some tie."""
    return np.random.default_rng([SEED, state]).uniform(size=len(test)).round(2)


MODELS: dict[str, Callable[[Queries, Floats, int], Floats]] = {
    "gbrt": gbrt,
    "lambdamart": lambdamart,
    "linear-regression": linear_regression,
    "neural": neural,
    "random": random_scores,
}


def letor_files() -> Iterator[tuple[str, bytes]]:
    """Path and content of each learning-to-rank file.

    A model learns from a bootstrap of the training queries, so that a seed matters to all.
    """
    qids = np.random.default_rng(SEED).permutation(len(FOLDS) * N_TEST) + 1
    for fold, fold_qids in zip(FOLDS, np.split(qids, len(FOLDS)), strict=True):
        queries = draw_fold(fold)
        test = queries.take(np.arange(N_TEST))
        yield f"letor/fold{fold}/test.txt", letor_text(test, fold_qids).encode()
        for seed in SEEDS:
            rng = np.random.default_rng([SEED, fold, seed])
            train = queries.take(rng.integers(N_TEST, N_TEST + N_TRAIN, N_TRAIN))
            for name, model in MODELS.items():
                scores = model(train, test.features, 10 * fold + seed)
                text = "".join(f"{score:.6g}\n" for score in scores)
                yield f"letor/{name}/fold{fold}-seed{seed}.txt", text.encode()


# TREC


@dataclass(frozen=True)
class Collection:
    """Word counts of documents, and the share of each theme in each document, which nobody sees."""

    counts: Floats  # (documents, words)
    shares: Floats  # (documents, themes)
    theme_words: Floats  # (themes, words), rows sum to 1


def draw_collection(rng: np.random.Generator) -> Collection:
    """Documents that mix a few themes and common words; a word that occurs tends to recur."""
    common = 1 / np.arange(1, N_WORDS + 1)
    common /= common.sum()
    theme_words = normalize(rng.gamma(0.03, size=(N_THEMES, N_WORDS)) * common**0.3, norm="l1")
    weights = np.full(N_THEMES, 0.06)
    weights[list(ABSENT)] = 1e-9
    shares = rng.dirichlet(weights, N_DOCS)
    mixture = 0.6 * common + 0.4 * shares @ theme_words
    bursty = normalize(rng.gamma(np.maximum(250 * mixture, 1e-9)), norm="l1")
    lengths = rng.lognormal(np.log(120), 0.6, N_DOCS).astype(np.int64) + 10
    counts = np.array([rng.multinomial(n, p) for n, p in zip(lengths, bursty, strict=True)], float)
    return Collection(counts, shares, theme_words)


def draw_query(rng: np.random.Generator, collection: Collection, theme: int) -> Ints:
    """Two to five distinct words of the theme that the collection has."""
    p = collection.theme_words[theme] * (collection.counts.sum(axis=0) > 0)
    return rng.choice(N_WORDS, rng.integers(2, 6), replace=False, p=p / p.sum())


def bm25(collection: Collection, query: Ints, k1: float = 1.2, b: float = 0.75) -> Floats:
    """Okapi BM25 with the idf that stays positive."""
    tf, lengths = collection.counts[:, query], collection.counts.sum(axis=1, keepdims=True)
    df = (tf > 0).sum(axis=0)
    idf = np.log1p((N_DOCS - df + 0.5) / (df + 0.5))
    return (idf * tf * (k1 + 1) / (tf + k1 * (1 - b + b * lengths / lengths.mean()))).sum(axis=1)


def query_likelihood(collection: Collection, query: Ints, mu: float = 150.0) -> Floats:
    """Log likelihood of the query under a Dirichlet-smoothed language model of the document."""
    tf, lengths = collection.counts[:, query], collection.counts.sum(axis=1, keepdims=True)
    background = collection.counts[:, query].sum(axis=0) / collection.counts.sum()
    return np.log((tf + mu * background) / (lengths + mu)).sum(axis=1)


def cosines(vectors: Floats, vector: Floats) -> Floats:
    """Cosine of one vector with each row of others."""
    return normalize(vectors) @ normalize(vector[None, :])[0]


def document_scores(
    collection: Collection, queries: dict[int, Ints]
) -> dict[str, dict[int, Floats]]:
    """Each system's score of each document for each query; -inf where it does not retrieve."""
    counts = collection.counts
    weights = np.log(N_DOCS / np.maximum((counts > 0).sum(axis=0), 1))
    bags = {qid: np.bincount(query, minlength=N_WORDS) * weights for qid, query in queries.items()}
    svd = TruncatedSVD(20, random_state=SEED).fit(counts * weights)
    latent = svd.transform(counts * weights)
    rng = np.random.default_rng([SEED, 4])
    found = {qid: counts[:, query].any(axis=1) for qid, query in queries.items()}

    def matched(score: Callable[[int], Floats]) -> dict[int, Floats]:
        return {qid: np.where(found[qid], score(qid), -np.inf) for qid in queries}

    return {
        "bm25": matched(lambda qid: bm25(collection, queries[qid])),
        "lsi": {qid: cosines(latent, svd.transform(bag[None, :])[0]) for qid, bag in bags.items()},
        "query-likelihood": matched(lambda qid: query_likelihood(collection, queries[qid])),
        "random": {qid: rng.uniform(size=N_DOCS) for qid in queries},
        "tfidf": matched(lambda qid: cosines(counts * weights, bags[qid])),
    }


def retrieve(scores: Floats) -> Ints:
    """The best documents, best first."""
    return np.array([i for i in np.argsort(-scores, kind="stable")[:DEPTH] if scores[i] > -np.inf])


def shuffled_qids(file: int) -> list[int]:
    """The order of the queries in a TREC file, a different one for each number of a file."""
    return [int(qid) for qid in np.random.default_rng([SEED, 5, file]).permutation(QIDS)]


def run_text(name: str, scores: dict[int, Floats], qids: list[int]) -> str:
    """One system's run in TREC's six columns, its queries in the order of `qids`."""
    decimals = DECIMALS.get(name, 5)
    return "".join(
        f"{qid} Q0 DOC-{doc:05d} {rank} {scores[qid][doc]:.{decimals}f} {name}\n"
        for qid in qids
        if (name, qid) != UNANSWERED
        for rank, doc in enumerate(retrieve(scores[qid]), 1)
    )


def qrels_text(
    collection: Collection,
    themes: dict[int, int],
    systems: dict[str, dict[int, Floats]],
    qids: list[int],
) -> str:
    """Judgements by the true share of the theme, of the documents that some system ranks high."""
    lines = []
    for qid in qids:
        grades = np.digitize(collection.shares[:, themes[qid]], SHARE_CUTS)
        pool = {doc for scores in systems.values() for doc in retrieve(scores[qid])[:POOL_DEPTH]}
        lines += [f"{qid} 0 DOC-{doc:05d} {grades[doc]}\n" for doc in sorted(pool)]
    return "".join(lines)


def groups_text(queries: dict[int, Ints]) -> str:
    """Queries of two or three words are short."""
    lines = [f"{qid},{'short' if len(query) < 4 else 'long'}\n" for qid, query in queries.items()]
    return "".join(["qid,length\n", *lines])


def compress(content: bytes) -> bytes:
    """Gzip without a name and a time, for the same bytes each time."""
    buffer = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=buffer, mtime=0) as file:
        file.write(content)
    return buffer.getvalue()


def trec_files() -> Iterator[tuple[str, bytes]]:
    """Path and content of the qrels, of the queries' groups and of each run."""
    rng = np.random.default_rng([SEED, 3])
    collection = draw_collection(rng)
    themes = dict(zip(QIDS, rng.permutation(N_THEMES), strict=False))
    queries = {qid: draw_query(rng, collection, theme) for qid, theme in themes.items()}
    systems = document_scores(collection, queries)
    yield "trec/qrels.txt", qrels_text(collection, themes, systems, shuffled_qids(0)).encode()
    yield "trec/queries.csv", groups_text(queries).encode()
    for file, (name, scores) in enumerate(systems.items(), 1):
        content = run_text(name, scores, shuffled_qids(file)).encode()
        if name == GZIPPED:
            yield f"trec/{name}.run.gz", compress(content)
        else:
            yield f"trec/{name}.run", content


def main() -> None:
    """Write every file."""
    parser = argparse.ArgumentParser(description="Make the example data.")
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent, help="the folder to write to"
    )
    out: Path = parser.parse_args().out
    n_files = len(FOLDS) * (1 + len(SEEDS) * len(MODELS)) + 7
    with threadpool_limits(1):
        for path, content in tqdm(chain(letor_files(), trec_files()), total=n_files, unit="file"):
            (out / path).parent.mkdir(parents=True, exist_ok=True)
            (out / path).write_bytes(content)


if __name__ == "__main__":
    main()
