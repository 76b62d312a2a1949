"""Good answers for the defect grid of design/defects.md, from data that are not in this repository.

    python -m bench.defects good good.jsonl
    python -m bench.defects claims defects.jsonl with_claims.jsonl

    expertqa      answers that the expert called at least partially useful, with the passages that their claims cite
    haluquestqa   the answer of a person and of a model, each with the other one as its reference
    wice          claims of Wikipedia that their web page supports at least in part, as short answers: dates, numbers,
                  names. The passage is the page's text, the reference its supporting sentences

The last form gives each answer its sentences as `claims`, so that metrics of claims need no judge with a checker.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from longmark.records import Example
from longmark.records.read import Reading
from longmark.records.write import write_examples
from longmark.text.sentences import sentences

DATA = Path(__file__).parents[2] / "shared" / "data"


def read(name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    with (DATA / name).open(encoding="utf-8") as file:
        yield from enumerate(map(json.loads, file))


def expertqa() -> Iterator[dict[str, Any]]:
    """A passage is the text behind the first blank line of a claim's evidence."""
    for number, line in read("expertqa/expert_labels.jsonl"):
        for system, answer in line["answers"].items():
            found = [one for claim in answer["claims"] for one in claim.get("evidence") or ()]
            passages = dict.fromkeys(one.partition("\n\n")[2].strip() for one in found)
            texts = {
                "question": line["question"],
                "answer": answer["answer_string"],
                "system": system,
            }
            if answer["usefulness"] != "Not useful at all":
                yield {
                    "id": f"expertqa-{number}-{system}",
                    **texts,
                    "contexts": [one for one in passages if one],
                }


def haluquestqa() -> Iterator[dict[str, Any]]:
    for number, line in read("haluquestqa/half.jsonl"):
        sides = {line[f"ans{side}_label"]: line[f"ans{side}_text"] for side in (1, 2)}
        for one, other in (("human_answer", "model_answer"), ("model_answer", "human_answer")):
            texts = {
                "question": line["question_text"],
                "answer": sides[one],
                "references": [sides[other]],
            }
            yield {"id": f"haluquestqa-{number}-{one}", "system": one, **texts}


def wice() -> Iterator[dict[str, Any]]:
    made: dict[str, dict[str, Any]] = {}
    for number, line in read("wice/oracle_claim_dev.jsonl"):
        if line["label"] == "not_supported":
            continue
        meta = line["meta"]
        new = {
            "question": f"What is known about {meta['claim_title']}?",
            "answer": line["claim"],
            "system": "wikipedia",
        }
        one = made.setdefault(
            line["claim"], {"id": f"wice-{number}", **new, "contexts": [], "references": []}
        )
        one["contexts"].append(" ".join(line["evidence"]))
        at = dict(zip(meta["chunk_idx"], line["evidence"], strict=True))
        one["references"] = one["references"] or [
            " ".join(at[place] for place in meta["oracle_idx"] if place in at)
        ]
    yield from (one for one in made.values() if one["references"] != [""])


def with_claims(source: Path, out: Path) -> None:
    def claimed(one: Example) -> Example:
        of_reference = tuple(sentences(one.references[0])) if one.references else None
        return one.model_copy(
            update={
                "claims": tuple(sentences(one.answer or "")),
                "reference_claims": of_reference or None,
            }
        )

    write_examples(map(claimed, Reading(source).singles()), out)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["claims", source, out]:
            with_claims(Path(source), Path(out))
        case ["good", out]:
            lines = (*expertqa(), *haluquestqa(), *wice())
            Path(out).write_text("".join(f"{json.dumps(one)}\n" for one in lines), encoding="utf-8")
        case _:
            sys.exit(__doc__)
