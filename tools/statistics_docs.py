"""Simulates how well intervals and tests keep their promises, and prints docs/statistics.md.

All draws are seeded, so the page comes out the same each time.
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from harness.compare.stats import family, paired, signs
from harness.compare.stats.block import Block, ratio
from harness.compare.stats.signs import Pairs
from harness.scoring import bootstrap, seeds

if TYPE_CHECKING:
    from harness.compare.stats.block import Floats

REPETITIONS = 4000  # repetitions of an experiment; a rate of 0.05 then has a standard error of 0.0034
FAMILIES = 3000  # repetitions of an experiment with whole families
FLIPS = 2000
SEEDED = 2000  # repetitions of an experiment with recipes of several seeds
ALPHA = 0.05
SIZES = (20, 50, 150, 500)

Draw = Callable[[np.random.Generator, tuple[int, ...]], "Floats"]


class Population(NamedTuple):
    """A distribution from which the values of queries are drawn, and its mean."""

    name: str
    draw: Draw
    mean: float


class Rate(NamedTuple):
    """The share of the repetitions of an experiment in which something was observed."""

    name: str
    queries: int
    share: float
    repetitions: int

    @property
    def error(self) -> float:
        return math.sqrt(self.share * (1 - self.share) / self.repetitions)


RANKS = np.array([1, 1 / 2, 1 / 3, 1 / 5, 1 / 10, 0])
SHARES = np.array([0.25, 0.1, 0.08, 0.07, 0.05, 0.45])


def populations() -> tuple[Population, ...]:
    """The populations. Their values are like those of measures: many zeros, few levels, skewed."""
    return (
        Population("even between 0 and 1", lambda rng, shape: rng.random(shape), 0.5),
        Population(
            "reciprocal ranks, 45 % zeros",
            lambda rng, shape: rng.choice(RANKS, size=shape, p=SHARES),
            float(RANKS @ SHARES),
        ),
        Population(
            "success of 80 % of queries", lambda rng, shape: (rng.random(shape) < 0.8).astype(np.float64), 0.8
        ),
        Population(
            "skewed: 60 % zeros, else beta(1, 4)",
            lambda rng, shape: np.where(rng.random(shape) < 0.6, 0.0, rng.beta(1, 4, shape)),
            0.4 * 0.2,
        ),
    )


def coverage(repetitions: int = REPETITIONS) -> list[Rate]:
    """How often the 95 % interval contains the true mean."""
    rates_of_all = []
    for at, (population, queries) in enumerate(itertools.product(populations(), SIZES)):
        rng = np.random.default_rng(at)
        values = population.draw(rng, (queries, repetitions))
        low, high = _ends(bootstrap.exact(values), at) / queries
        held = np.mean((low <= population.mean) & (population.mean <= high))
        rates_of_all.append(Rate(population.name, queries, float(held), repetitions))
    return rates_of_all


def coverage_of_differences(repetitions: int = REPETITIONS) -> list[Rate]:
    """How often the 95 % interval contains the true difference of two systems. They agree on half of the
    queries, and the values of the second are multiplied by 0.9. The last population has ratios of sums."""
    rates_of_all = []
    for at, (population, queries) in enumerate(itertools.product(populations(), SIZES)):
        rng = np.random.default_rng(100 + at)
        one, other = _pair(population, rng, queries, repetitions)
        low, high = _ends(bootstrap.exact(one - 0.9 * other), at) / queries
        truth = 0.1 * population.mean
        rates_of_all.append(
            Rate(population.name, queries, float(np.mean((low <= truth) & (truth <= high))), repetitions)
        )
    for at, queries in enumerate(SIZES):
        rng = np.random.default_rng(200 + at)
        whole = rng.integers(1, 6, (queries, repetitions)).astype(np.float64)
        one, other = (rng.binomial(whole.astype(np.int64), p).astype(np.float64) for p in (0.6, 0.5))
        stacked = np.concatenate([bootstrap.exact(part) for part in (one, other, whole)], axis=1)
        sums = np.split(bootstrap.resampled(stacked, at), 3, axis=1)
        low, high = np.quantile(ratio(sums[0], sums[2]) - ratio(sums[1], sums[2]), (0.025, 0.975), axis=0)
        held = float(np.mean((low <= 0.1) & (high >= 0.1)))
        rates_of_all.append(Rate("micro recall, a ratio of sums", queries, held, repetitions))
    return rates_of_all


def false_positives(repetitions: int = REPETITIONS) -> list[tuple[Rate, Rate, Rate]]:
    """How often randomisation, t and Wilcoxon call two systems different that are not. The two values of a
    query are two draws from one distribution, or equal."""
    rates_of_all = []
    for at, (population, queries) in enumerate(itertools.product(populations(), (10, *SIZES[:3]))):
        rng = np.random.default_rng(300 + at)
        one, other = _pair(population, rng, queries, repetitions)
        block = Block(np.concatenate([one, other], axis=1), np.ones((queries, 2 * repetitions)), "mean")
        numbers = np.arange(repetitions)
        prepared = signs.prepare(block, Pairs(numbers, numbers + repetitions))
        tested = family.randomised([family.Group((prepared,), at)], numbers, FLIPS, ALPHA)
        columns = (one - other).T
        by_t = np.array([paired.t_test(column).p for column in columns])
        by_rank = np.array([paired.wilcoxon(column).p for column in columns])
        shares = [float(np.mean(p <= ALPHA)) for p in (tested.p, by_t, by_rank)]
        rates = [Rate(population.name, queries, share, repetitions) for share in shares]
        rates_of_all.append((rates[0], rates[1], rates[2]))
    return rates_of_all


def family_errors(families: int = FAMILIES) -> list[tuple[str, Rate, Rate, Rate]]:
    """How often the tests of all pairs of eight systems have at least one false positive, by max-T, Holm and
    without correction. In the second half of the cases, four of the systems really are better."""
    rates_of_all = []
    cases = itertools.product(("all eight alike", "four better than four"), (30, 150))
    for at, (name, queries) in enumerate(cases):
        rng = np.random.default_rng(400 + at)
        lift = np.array([0.0] * 4 + [0.15 if name.startswith("four") else 0.0] * 4)
        chosen = list(itertools.combinations(range(8), 2))
        true = np.array([lift[a] == lift[b] for a, b in chosen])
        pairs = Pairs(*np.array(chosen).T)
        wrong = np.zeros((families, 3), np.bool_)
        for number in range(families):
            hard = rng.random((queries, 1))
            values = 0.5 * hard + 0.5 * rng.random((queries, 8)) ** 2 + lift
            prepared = signs.prepare(Block(values, np.ones((queries, 8)), "mean"), pairs)
            zeros = np.zeros(len(chosen), np.int64)
            tested = family.randomised([family.Group((prepared,), number)], zeros, FLIPS, ALPHA)
            for column, p in enumerate((tested.adjusted, family.holm(tested.p, zeros), tested.p)):
                wrong[number, column] = (p[true] <= ALPHA).any()
        rates = [Rate(name, queries, float(share), families) for share in wrong.mean(axis=0)]
        rates_of_all.append((name, rates[0], rates[1], rates[2]))
    return rates_of_all


def power(repetitions: int = REPETITIONS) -> list[Rate]:
    """How often the t-test finds a true difference of exactly the detectable size."""
    rates_of_all = []
    for at, queries in enumerate((10, *SIZES[:3])):
        rng = np.random.default_rng(500 + at)
        columns = rng.normal(paired.detectable_shift(queries, ALPHA, paired.POWER), 1, (repetitions, queries))
        share = float(np.mean([paired.t_test(column).p <= ALPHA for column in columns]))
        rates_of_all.append(Rate("normal differences", queries, share, repetitions))
    return rates_of_all


def luck_of_seeds(repetitions: int = SEEDED) -> list[tuple[Rate, Rate, Rate, Rate]]:
    """How often two equal recipes are called different, in three ways: by a t-test over queries with one seed
    of each recipe; by resampling seeds and queries together; by the t-test over queries and seeds that
    `compare` uses. The fourth rate is how often the interval of that last test contains the true
    difference."""
    rates = []
    cases = itertools.product((3, 5), (0.0, 0.01, 0.03), (50, 300))
    for at, (count, spread, queries) in enumerate(cases):
        rng = np.random.default_rng(600 + at)
        wrong = np.zeros((repetitions, 4))
        for number in range(repetitions):
            hard = rng.choice(RANKS, size=queries, p=SHARES)
            one, other = (_recipe(rng, hard, count, spread) for _ in range(2))
            spread_of_both = seeds.difference(one, other)
            low, high = _resampled(rng, one, other)
            wrong[number] = (
                paired.t_test(one[0] - other[0]).p <= ALPHA,
                low > 0 or high < 0,
                spread_of_both.p <= ALPHA,
                spread_of_both.interval[0] <= 0 <= spread_of_both.interval[1],
            )
        name = f"{count} seeds, sd {spread:g}"
        shares = [Rate(name, queries, float(share), repetitions) for share in wrong.mean(axis=0)]
        rates.append((shares[0], shares[1], shares[2], shares[3]))
    return rates


def _recipe(rng: np.random.Generator, hard: Floats, count: int, spread: float) -> Floats:
    """float64[S, Q]: the values of a recipe's seeds. A seed shifts all queries by the same number, and each
    query by a number of its own."""
    noise = rng.normal(0, spread, (count, 1)) + rng.normal(0, 0.05, (count, len(hard)))
    return np.asarray(hard + noise + rng.normal(0, 0.1, len(hard)))


def _resampled(rng: np.random.Generator, one: Floats, other: Floats, times: int = 200) -> tuple[float, float]:
    """The percentile interval of the difference, with queries and seeds resampled together."""
    queries = rng.multinomial(one.shape[1], np.full(one.shape[1], 1 / one.shape[1]), times) / one.shape[1]
    means = []
    for values in (one, other):
        chosen = rng.multinomial(len(values), np.full(len(values), 1 / len(values)), times) / len(values)
        means.append(((chosen @ values) * queries).sum(axis=1))
    low, high = np.quantile(means[0] - means[1], (0.025, 0.975))
    return float(low), float(high)


def _pair(population: Population, rng: np.random.Generator, queries: int, many: int) -> tuple[Floats, Floats]:
    """The values of two systems, float64[queries, many] each. Both have the same distribution, and the values
    of about half of the queries are equal."""
    one, other = population.draw(rng, (queries, many)), population.draw(rng, (queries, many))
    return one, np.where(rng.random((queries, many)) < 0.5, one, other)


def _ends(columns: Floats, seed: int) -> Floats:
    """float64[2, C]: the ends of the interval of each column's sum. The columns are resampled in eight parts,
    so that they do not all share one set of resamples."""
    parts = np.array_split(columns, 8, axis=1)
    ends = [
        np.quantile(bootstrap.resampled(part, 8 * seed + number), (0.025, 0.975), axis=0)
        for number, part in enumerate(parts)
    ]
    return np.concatenate(ends, axis=1)


def page(most: int = REPETITIONS) -> str:
    """The page, with at most so many repetitions of each experiment."""
    families, seeded = min(FAMILIES, most), min(SEEDED, most)
    single, difference = coverage(most), coverage_of_differences(most)
    parts = [
        HEAD,
        "## Intervals\n",
        "The two tables show how often the 95 % bootstrap interval contains the true value. The ideal is",
        f"0.950. Each number comes from {most:,} experiments with 2,000 resamples each, and has a",
        "standard error of about 0.003.\n",
        "For one system's mean, as a leaderboard shows it:\n",
        _by_size(single),
        "For the difference of two systems, as a comparison shows it:\n",
        _by_size(difference),
        "With few queries the bootstrap intervals are too narrow, especially if the two systems differ on",
        "only a few of the queries. With about 150 queries or more, the share is within about 0.01 of the",
        "ideal.\n",
        "## One test\n",
        "The table shows how often a test at 0.05 reports a difference between two equal systems. It should",
        f"be at most 0.05. Each number comes from {most:,} experiments. The randomisation test draws",
        f"{FLIPS:,} permutations, or enumerates all of them with 10 queries. With few queries, or if the",
        "systems differ on few queries, it has few possible p-values and reports a difference less often.\n",
        _table(
            ("values", "queries", "randomisation", "t", "Wilcoxon"),
            [
                (r.name, str(r.queries), *(f"{item.share:.3f}" for item in (r, t, w)))
                for r, t, w in false_positives(most)
            ],
        ),
        "## Families\n",
        "Eight systems have 28 pairs, and the tests of these pairs are a family. The table shows how often a",
        "family has at least one false positive. With a correction, it should be at most 0.05. Each number",
        f"comes from {families:,} families (standard error 0.004 at 0.05), whose values are skewed.\n",
        "In the last two lines, four systems are really better than the other four. Then only pairs within",
        "the same half can be false positives.\n",
        "Max-T is exact only if the joint distribution of all differences is symmetric. The distribution of",
        "skewed values is not symmetric, but that of their means over many queries nearly is.\n",
        _table(
            ("systems", "queries", "max-T", "Holm", "uncorrected"),
            [
                (name, str(m.queries), *(f"{item.share:.3f}" for item in (m, h, u)))
                for name, m, h, u in family_errors(families)
            ],
        ),
        "## Seeds\n",
        "A recipe is a way of training a model, and each seed gives another model. The table shows how often",
        f"two equal recipes are called different at 0.05, in {seeded:,} experiments each (standard error",
        "0.005). In the simulation, a seed shifts the values of all queries by the same normal number, with",
        "the standard deviation of the first column (`sd`), and each query by a separate number.\n",
        "- `one seed`: a t-test over the queries, with one seed of each recipe. It often takes the luck of a",
        "  seed for a difference.",
        "- `resampled`: an interval from resampling seeds and queries together. With three seeds it is too",
        "  narrow.",
        "- `over both`: the t-test that `compare` uses, with the variances over queries and over seeds.",
        "- `coverage`: how often the 95 % interval of `over both` contains the true difference.\n",
        _table(
            ("recipes", "queries", "one seed", "resampled", "over both", "coverage"),
            [
                (one.name, str(one.queries), *(f"{item.share:.3f}" for item in (one, again, both, held)))
                for one, again, both, held in luck_of_seeds(seeded)
            ],
        ),
        "## Power\n",
        "The table shows how often a t-test finds a true difference of exactly the detectable size. It",
        "should be 0.800.\n",
        _table(
            ("values", "queries", "found"),
            [(rate.name, str(rate.queries), f"{rate.share:.3f}") for rate in power(most)],
        ),
    ]
    return "\n".join(parts)


HEAD = """\
# Do intervals and tests keep their promises?

This page tests by simulation whether the intervals and tests of [compare.md](compare.md) can be
trusted. The simulated values resemble those of measures: many zeros, few levels, skewed.
`python tools/statistics_docs.py` prints this page.
"""


def _by_size(rates: Sequence[Rate]) -> str:
    names = list(dict.fromkeys(rate.name for rate in rates))
    share = {(rate.name, rate.queries): f"{rate.share:.3f}" for rate in rates}
    head = ("values", *(f"{size} queries" for size in SIZES))
    return _table(head, [(name, *(share[name, size] for size in SIZES)) for name in names])


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "| --- |" + " ---: |" * (len(head) - 1), *lines[1:]]) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="fewer, to try it")
    print(page(parser.parse_args().repetitions), end="")
