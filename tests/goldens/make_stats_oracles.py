"""Makes tests/goldens/stats_oracles.json; run by hand, in an environment of its own that has the oracles:

    pip install krippendorff irrCAC statsmodels scikit-learn scipy ppi-python
    python tests/goldens/make_stats_oracles.py

Ratings and scores are made here from a seed and written beside what each library says of them.
"""

# mypy: ignore-errors
from __future__ import annotations

import datetime
import json
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

LIBRARIES = (
    "krippendorff",
    "irrCAC",
    "statsmodels",
    "scikit-learn",
    "scipy",
    "ppi-python",
    "numpy",
)


def ratings(
    rng: np.random.Generator, items: int, raters: int, size: int, lacking: float
) -> list[list[int | None]]:
    """A truth for each item, which each rater gives or misses by a step; some ratings lack."""
    truth = rng.integers(0, size, (items, 1))
    given = np.clip(truth + rng.choice([-1, 0, 0, 0, 1], (items, raters)), 0, size - 1)
    lacks = rng.random((items, raters)) < lacking
    return [
        [None if out else int(mark) for mark, out in zip(*row, strict=True)]
        for row in zip(given, lacks, strict=True)
    ]


def agreements(rows: list[list[int | None]]) -> dict[str, Any]:
    import krippendorff
    import pandas as pd
    from irrCAC.raw import CAC
    from sklearn.metrics import cohen_kappa_score
    from statsmodels.stats.inter_rater import aggregate_raters, fleiss_kappa

    table = np.array(rows, dtype=float)
    found: dict[str, Any] = {"ratings": rows}
    for scale in ("nominal", "ordinal", "interval"):
        found[f"alpha_{scale}"] = krippendorff.alpha(
            reliability_data=table.T, level_of_measurement=scale
        )
    found["ac1"] = CAC(pd.DataFrame(table), digits=15).gwet()["est"]["coefficient_value"]
    if not np.isnan(table).any():
        found["fleiss"] = fleiss_kappa(aggregate_raters(table.astype(int))[0])
        first, second = table[:, 0].astype(int), table[:, 1].astype(int)
        for name, weights in (
            ("cohen", None),
            ("cohen_linear", "linear"),
            ("cohen_quadratic", "quadratic"),
        ):
            found[name] = cohen_kappa_score(first, second, weights=weights)
    return found


def correlations(rng: np.random.Generator, n: int) -> dict[str, Any]:
    from scipy import stats

    shared = rng.normal(size=n)
    x = np.round(shared + rng.normal(size=n), 1)
    y = np.round(np.exp(shared + rng.normal(size=n)), 1)
    return {
        "x": x.tolist(),
        "y": y.tolist(),
        "pearson": float(stats.pearsonr(x, y).statistic),
        "pearson_95": list(map(float, stats.pearsonr(x, y).confidence_interval(0.95))),
        "spearman": float(stats.spearmanr(x, y).statistic),
        "kendall": float(stats.kendalltau(x, y).statistic),
        "skewness": float(stats.skew(y)),
        "kurtosis": float(stats.kurtosis(y)),
        "gmean": float(stats.gmean(y + 1)),
        "iqr": float(stats.iqr(y)),
    }


def predictions(rng: np.random.Generator, labelled: int, items: int) -> dict[str, Any]:
    from ppi_py import ppi_mean_ci, ppi_mean_pointestimate

    truth = rng.beta(4, 2, items)
    marks = np.clip(truth + rng.normal(0.08, 0.15, items), 0, 1).round(2)
    truth = truth.round(2)
    y, f, others = truth[:labelled], marks[:labelled], marks[labelled:]
    found: dict[str, Any] = {"human": y.tolist(), "judge": marks.tolist()}
    for name, weight in (("tuned", None), ("full", 1.0), ("half", 0.5)):
        low, high = ppi_mean_ci(y, f, others, alpha=0.1, lam=weight)
        found[name] = [
            float(np.squeeze(v))
            for v in (ppi_mean_pointestimate(y, f, others, lam=weight), low, high)
        ]
    return found


def main() -> None:
    rng = np.random.default_rng(20)
    libraries = ", ".join(f"{name} {version(name)}" for name in LIBRARIES)
    made = {
        "PROVENANCE": (
            f"{libraries}; Python {platform.python_version()}; {datetime.date.today().isoformat()}; "
            "tests/goldens/make_stats_oracles.py, seed 20; alpha .1 for the prediction-powered intervals"
        ),
        "agreement": [
            agreements(ratings(rng, items, raters, size, lacking))
            for items, raters, size, lacking in (
                (30, 2, 3, 0),
                (40, 4, 5, 0),
                (25, 3, 4, 0.25),
                (60, 5, 6, 0.5),
            )
        ],
        "correlation": [correlations(rng, n) for n in (12, 80)],
        "ppi": [predictions(rng, 25, 120), predictions(rng, 60, 300)],
    }
    target = Path(__file__).with_name("stats_oracles.json")
    target.write_text(json.dumps(made, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
