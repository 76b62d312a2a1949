"""How often the embedded judge chooses as people do, in each form, beside baselines: HaluQuestQA and LFQA-E.

    python -m bench.pairs.embedded pairs DATA FILE --out DIR    samples: DATA_dev.jsonl (10), DATA_test.jsonl (60)
    python -m bench.pairs.embedded rows FORM=RUN[:METRIC] …    adds runs on these files to embedded_judge.csv
    python -m bench.pairs.embedded table                        the tables of design/embedded-judge-pairs.md, from that CSV

DATA is `haluquestqa` (half.jsonl) or `lfqa_e` (zh_first600.json). The pairs are in a shuffled order (seed 13 over the
sorted ids); the first 10 are the development split, on which the form is chosen, the next 60 are the test. The CSV has
no texts: the place of a pair in its file, the choice of people, and the choice of the form.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from longmark.records.example import question_hash
from longmark.stats.proportion import clustered_share

CSV = Path(__file__).parent / "embedded_judge.csv"
COLUMNS = ("data", "split", "form", "pair", "question", "label", "choice", "flipped")
DATA = ("haluquestqa", "lfqa_e")
SPLITS = {"dev": slice(0, 10), "test": slice(10, 70)}
SEED = 13
BASELINES = ("always a", "always longer, words", "always longer, characters", "always the model")
_LABELS = {"Answer 1": "a", "Answer 2": "b", "response_a": "a", "response_b": "b", "same": "tie"}
_CHOICES = {1.0: "a", 0.0: "tie", -1.0: "b"}
Row = dict[str, str]


def pairs(data: str, file: Path) -> list[dict[str, Any]]:
    """The pairs of a data set in the shuffled order."""
    raw = file.read_bytes()
    records = (
        json.loads(raw) if data == "lfqa_e" else [orjson.loads(line) for line in raw.splitlines()]
    )
    found = [
        _lfqa_e(i, one) if data == "lfqa_e" else _haluquestqa(i, one)
        for i, one in enumerate(records)
    ]
    found.sort(key=lambda pair: str(pair["id"]))
    random.Random(SEED).shuffle(found)
    return found


def _haluquestqa(place: int, record: dict[str, Any]) -> dict[str, Any]:
    systems = [record[f"ans{n}_label"].removesuffix("_answer") for n in (1, 2)]
    return {
        "id": f"h{place}",
        "question": record["question_text"],
        "a": record["ans1_text"],
        "b": record["ans2_text"],
        "label": _LABELS[record["ans_preference"]],
        "a_system": systems[0],
        "b_system": systems[1],
        "subject": record["category"],
    }


def _lfqa_e(place: int, record: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": f"z{place}",
        "question": record["question"],
        "contexts": [record["context"]] if record["context"] else [],
        "references": [record["reference"]],
        "a": record["response_a"],
        "b": record["response_b"],
        "label": _LABELS[record["label"]],
        "mode": record["compare_type"].replace("_vs_", "/"),
    }


def baselines(pair: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The baselines that a pair has, with their choices."""
    yield BASELINES[0], "a"
    if pair["id"].startswith("h"):  # Chinese has no spaces between words
        yield BASELINES[1], _longer(len(pair["a"].split()), len(pair["b"].split()))
    yield BASELINES[2], _longer(len(pair["a"]), len(pair["b"]))
    if pair.get("a_system") and (pair["a_system"] == "human") != (pair["b_system"] == "human"):
        yield BASELINES[3], "b" if pair["a_system"] == "human" else "a"


def _longer(a: int, b: int) -> str:
    return "a" if a > b else "b" if b > a else "tie"


def rows_of(form: str, run: Path, metric: str) -> Iterator[Row]:
    """The rows of a run, with those of the baselines. metric: of several scores, the one to take; "": there is one."""
    examples = {
        one["id"]: one
        for line in (run / "examples.jsonl").open("rb")
        for one in (orjson.loads(line),)
    }
    order = {data: {pair: i for i, pair in enumerate(_order(data))} for data in DATA}
    for line in (run / "rows.jsonl").open("rb"):
        row = orjson.loads(line)
        if (metric and row["metric"] != metric) or row[
            "status"
        ] == "model_error":  # no reply: not the judge's
            continue
        pair = examples[row["example_id"]]
        data = DATA[pair["id"].startswith("z")]
        place = order[data][pair["id"]]
        split = next((name for name, part in SPLITS.items() if part.start <= place < part.stop), "")
        known = {
            "data": data,
            "split": split,
            "pair": pair["id"],
            "question": question_hash(pair["question"])[:12],
        }
        known["label"] = pair["label"]
        flipped = row["evidence"].get("flipped")
        choice = "" if row["score"] is None else _CHOICES[row["score"]]
        yield {
            **known,
            "form": form,
            "choice": choice,
            "flipped": "" if flipped is None else str(int(flipped)),
        }
        if "shares" in str(row["evidence"]) and form.endswith(", log-odds"):
            first = row["evidence"]["choices"][0]["choice"]
            printed = first if not flipped else "tie"
            yield {
                **known,
                "form": form.replace("log-odds", "likeliest letter"),
                "choice": printed,
            } | {"flipped": str(int(flipped))}
        for name, made in baselines(pair):
            yield {**known, "form": name, "choice": made, "flipped": ""}


def _order(data: str) -> list[str]:
    """The ids of a data set in the shuffled order, from their number alone."""
    letter, number = ("h", 345) if data == "haluquestqa" else ("z", 600)
    ids = sorted(f"{letter}{i}" for i in range(number))
    random.Random(SEED).shuffle(ids)
    return ids


def read() -> list[Row]:
    with CSV.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def write(rows: Sequence[Row]) -> None:
    with CSV.open("w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def table(rows: Sequence[Row], data: str, split: str) -> list[str]:
    """The lines of one table: every form on the pairs of a split, best first, and the best baseline's paired test."""
    some = [row for row in rows if row["data"] == data and row["split"] == split]
    forms = {
        form: {row["pair"]: row for row in some if row["form"] == form}
        for form in {row["form"] for row in some}
    }
    right = {
        form: {pair: row["choice"] == row["label"] for pair, row in of.items()}
        for form, of in forms.items()
    }
    known = [form for form in BASELINES if form in forms]
    lines = [
        "| form | right | share (95 % CI) | without people's ties | ties | flips | unscored | best baseline |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]

    def strength(form: str) -> tuple[bool, float, str]:
        return form in known, -sum(right[form].values()) / len(right[form]), form

    for form in sorted(forms, key=strength):
        of = forms[form]
        scored = [row for row in of.values() if row["choice"]]
        hits = [float(right[form][row["pair"]]) for row in scored]
        share = clustered_share(hits, [row["question"] for row in scored])
        decided = [row for row in scored if row["label"] != "tie"]
        hit = sum(right[form][row["pair"]] for row in decided)
        flips = [row["flipped"] for row in scored if row["flipped"]]
        best = (
            max(known, key=lambda name: sum(right[name][pair] for pair in of))
            if form not in known
            else ""
        )
        cells = [
            form,
            f"{sum(hits):.0f} of {len(scored)}",
            f"{share.value:.2f} ({share.low:.2f} to {share.high:.2f})" if share.ends else "",
            f"{hit / len(decided):.2f}" if decided else "",
            str(sum(row["choice"] == "tie" for row in scored)),
            f"{flips.count('1')} of {len(flips)}" if flips else "",
            str(len(of) - len(scored)) if len(of) > len(scored) else "",
            _against(right[form], right[best]) if best and scored else "",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def _against(own: dict[str, bool], other: dict[str, bool]) -> str:
    """Pairs where only one of the two is right, and McNemar's exact p (two-sided)."""
    better = sum(hit and not other[pair] for pair, hit in own.items())
    worse = sum(other[pair] and not hit for pair, hit in own.items())
    n, k = better + worse, min(better, worse)
    p = min(1.0, 2 * sum(math.comb(n, i) for i in range(k + 1)) / 2**n) if n else 1.0
    return f"+{better} -{worse}, " + ("p < 0.001" if p < 0.001 else f"p = {p:.3f}")


def page(rows: Sequence[Row], splits: Sequence[str] = ("test", "dev")) -> str:
    """The tables of these splits. design/embedded-judge-pairs.md has those of the test pairs."""
    names = {"haluquestqa": "HaluQuestQA", "lfqa_e": "LFQA-E"}
    parts = []
    for split in splits:
        what = "test pairs" if split == "test" else "development pairs"
        for data in DATA:
            if any(row["data"] == data and row["split"] == split for row in rows):
                parts.append("\n".join([f"{names[data]}, {what}:", "", *table(rows, data, split)]))
    return "\n\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    verbs = parser.add_subparsers(dest="verb", required=True)
    samples = verbs.add_parser("pairs")
    samples.add_argument("data", choices=DATA)
    samples.add_argument("file", type=Path)
    samples.add_argument("--out", type=Path, required=True)
    verbs.add_parser("rows").add_argument("runs", nargs="+", metavar="FORM=RUN[:METRIC]")
    verbs.add_parser("table")
    given = parser.parse_args()
    if given.verb == "pairs":
        for split, part in SPLITS.items():
            lines = [orjson.dumps(pair) + b"\n" for pair in pairs(given.data, given.file)[part]]
            (given.out / f"{given.data}_{split}.jsonl").write_bytes(b"".join(lines))
    elif given.verb == "rows":
        rows = {(row["form"], row["pair"]): row for row in (read() if CSV.exists() else [])}
        for one in given.runs:
            form, _, place = one.partition("=")
            run, _, metric = place.partition(":")
            rows |= {(row["form"], row["pair"]): row for row in rows_of(form, Path(run), metric)}
        write(
            sorted(
                rows.values(), key=lambda row: (row["data"], row["split"], row["form"], row["pair"])
            )
        )
    else:
        print(page(read()), end="")


if __name__ == "__main__":
    main()
