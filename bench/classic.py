"""The classic metrics beside the libraries that define them: values, and CPU as a ratio in the same run.

`python -m bench.classic PAIRS [PAIRS ...] [--n 500] [--rounds 3]` (needs rouge-score: `pip install rouge-score`)

PAIRS: files of pairs (`longmark dataset`). Both answers of a pair are scored against its reference; where it has none,
the first answer is the reference of the second. Each line: how many values, the greatest difference of one, the
library's CPU seconds, ours as a multiple (the median of the rounds), and how many were left out because the tokenizer
cannot read their script (sacrebleu gives those a number).

`python -m bench.classic PAIRS --scale 2000 --scale 8000` writes so many pairs (those of the files, again and again) and
runs the metrics without a model on them, each a process of its own: CPU seconds and the greatest memory in MB.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import orjson
import sacrebleu

from longmark.cli import main as command
from longmark.errors import NoScore
from longmark.metric import Score
from longmark.metrics.classic import _rouge, bleu, chrf
from longmark.records import Pair
from longmark.records.pair import example_of
from longmark.text import tokens

Metric = Callable[[str, str], float]
METRICS = "classic.rouge_1,classic.rouge_2,classic.rouge_l,classic.bleu,classic.chrf,classic.length"


def texts(files: list[Path], n: int) -> list[tuple[str, str]]:
    """(answer, reference), evenly from the files."""
    found = []
    for file in files:
        some: list[tuple[str, str]] = []
        for line in file.read_bytes().splitlines():
            pair = example_of(line)
            assert isinstance(pair, Pair)
            some += (
                [(one, pair.references[0]) for one in (pair.a, pair.b)]
                if pair.references
                else [(pair.b, pair.a)]
            )
        found += some[: -(-n // len(files))]
    return found[:n]


def ours(scored: Callable[[str, list[str]], Score]) -> Metric:
    return lambda answer, reference: scored(answer, [reference]).value


def rouge(overlap: _rouge.Overlap) -> Metric:
    return ours(
        lambda answer, references: _rouge.best(overlap, answer, references, _rouge.RougeParams())
    )


def rouge_score(kind: str) -> Metric:
    from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-not-found, unused-ignore]

    scorer = RougeScorer([kind])
    return lambda answer, reference: float(scorer.score(reference, answer)[kind].fmeasure)


def sentence_score(library: Any) -> Metric:
    return lambda answer, reference: float(library.sentence_score(answer, [reference]).score) / 100


def compared() -> dict[str, tuple[Metric, Metric]]:
    """name -> ours, the library's."""
    found = {
        "rouge_1": (rouge(partial(_rouge.ngrams_in_common, 1)), rouge_score("rouge1")),
        "rouge_2": (rouge(partial(_rouge.ngrams_in_common, 2)), rouge_score("rouge2")),
        "rouge_l": (rouge(_rouge.longest_in_common), rouge_score("rougeL")),
    }
    for tokenizer in ("13a", "zh", "char"):
        mine = ours(partial(bleu.bleu, params=bleu.BleuParams(tokenizer=tokenizer)))
        found[f"bleu, {tokenizer}"] = (
            mine,
            sentence_score(sacrebleu.BLEU(tokenize=tokenizer, effective_order=True)),
        )
    for order, name in ((0, "chrf"), (2, "chrf++")):
        mine = ours(partial(chrf.chrf, params=chrf.ChrfParams(word_order=order)))
        found[name] = (mine, sentence_score(sacrebleu.CHRF(word_order=order)))
    return found


def measured(metric: Metric, pairs: list[tuple[str, str]]) -> tuple[float, list[float | None]]:
    """CPU seconds, and the values; None: unscored."""
    from sacrebleu.tokenizers import tokenizer_13a, tokenizer_char, tokenizer_re, tokenizer_zh

    kept = (tokenizer_13a.Tokenizer13a, tokenizer_re.TokenizerRegexp, tokenizer_char.TokenizerChar)
    for tokenizer in (*kept, tokenizer_zh.TokenizerZh):
        tokenizer.__call__.cache_clear()  # each round divides its texts itself
    tokens._tokens.cache_clear()
    values: list[float | None] = []
    began = time.process_time()
    for answer, reference in pairs:
        try:
            values.append(metric(answer, reference))
        except NoScore:
            values.append(None)
    return time.process_time() - began, values


def compare(pairs: list[tuple[str, str]], rounds: int) -> None:
    print("| metric | values | greatest difference | library, CPU s | ours, x library | left out |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    for name, (mine, library) in compared().items():
        _, values = measured(mine, pairs)
        kept = [pair for pair, value in zip(pairs, values, strict=True) if value is not None]
        timed = [(measured(library, kept), measured(mine, kept)) for _ in range(rounds)]
        (_, theirs), (_, found) = timed[0]
        most = max(abs((a or 0) - (b or 0)) for a, b in zip(found, theirs, strict=True))
        ratio = statistics.median(own / its for (its, _), (own, _) in timed)
        cpu = statistics.median(its for (its, _), _ in timed)
        print(
            f"| {name} | {len(kept)} | {most:.1e} | {cpu:.2f} | {ratio:.2f} | {len(pairs) - len(kept)} |",
            flush=True,
        )


def scale(files: list[Path], counts: list[int]) -> None:
    lines = [orjson.loads(line) for file in files for line in file.read_bytes().splitlines()]
    lines = [line for line in lines if line.get("references")]
    print("| pairs | CPU s | ms a pair | greatest memory, MB |\n| ---: | ---: | ---: | ---: |")
    for count in counts:
        with tempfile.TemporaryDirectory() as name:
            path = Path(name) / "pairs.jsonl"
            with path.open("wb") as file:
                for number, line in enumerate(islice(cycle(lines), count)):
                    # a text of its own for each pair, so that nothing can be kept from another one
                    own = {
                        "id": str(number),
                        "question_id": str(number),
                        "a": f"{number} {line['a']}",
                    }
                    file.write(orjson.dumps(line | own) + b"\n")
            this = [sys.executable, "-m", "bench.classic", "--run", str(path)]
            printed = subprocess.run(this, check=True, capture_output=True, text=True).stdout
            cpu, memory = map(float, printed.split()[-2:])
            print(
                f"| {count:,} | {cpu:.0f} | {1000 * cpu / count:.1f} | {memory:.0f} |", flush=True
            )


def run(path: Path) -> None:
    """One measured run."""
    names = ",".join(one + _UNICODE.get(one, "") for one in METRICS.split(","))
    out = str(path.with_name("run"))
    if command(["run", str(path), "--metrics", names, "--out", out, "--quiet"]):
        sys.exit("the run failed")
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


_UNICODE = {
    f"classic.{name}": "@tokenizer=unicode" for name in ("rouge_1", "rouge_2", "rouge_l", "length")
}
_UNICODE["classic.bleu"] = "@tokenizer=zh"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pairs", nargs="*", type=Path)
    parser.add_argument("--n", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--scale", type=int, action="append")
    parser.add_argument("--run", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.run:
        run(given.run)
    elif given.scale:
        scale(given.pairs, given.scale)
    else:
        compare(texts(given.pairs, given.n), given.rounds)


if __name__ == "__main__":
    main()
