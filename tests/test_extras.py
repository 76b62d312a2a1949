"""A command whose extra is not installed says which one it needs, before its first call."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

EXTRAS = """bm25s evalica faiss matplotlib networkx numpy peft pint pyarrow pypdf rapidfuzz sacrebleu scipy
sklearn sentence_transformers tokenizers torch transformers xllamacpp"""
JUDGE = "m@http://127.0.0.1:9/v1"  # nobody listens: a call would be an error of its own
COMMANDS = {
    "compare a b": "stats",
    "metaeval a labels.csv": "stats",
    "metrics-study a --out new": "stats",
    "power a": "stats",
    f"calf-study answers.jsonl --judge {JUDGE} --out new": "stats",
    f"score-study questions.jsonl --generator {JUDGE} --evaluator {JUDGE} --embedder {JUDGE} --domain hazards "
    "--out new": "stats",
    f"comprehensiveness-study --examples answers.jsonl --annotate 2 --generator {JUDGE} --out new": "stats",
    "climaqa-study a --out new": "stats",
    f"run answers.jsonl --metrics ccrs,classic.rouge_l --judge {JUDGE} --out new": "classic",
    "run answers.jsonl --metrics ccrs --judge embedded --out new": "embedded",
    f"run answers.jsonl --metrics ccrs,ragchecker --judge {JUDGE} --checker st:any --out new": "transformers",
    f"run answers.parquet --metrics ccrs --judge {JUDGE} --out new": "parquet",
    f"vary questions.jsonl --generator {JUDGE} --domain hazards --out new.parquet": "parquet",
    f"rag index documents --embedder {JUDGE} --out new": "rag",
    f"run answers.jsonl --metrics ccrs,comprehensiveness.qa --judge {JUDGE} --out new": "graphs",
    f"run answers.jsonl --metrics ccrs,classic.bartscore@checkpoint=any --judge {JUDGE} --out new": "transformers",
    "validator train labels.csv --out new": "train",
    "train pretrain pretrain.yaml": "finetune",
}

BARE = """
import importlib.abc, json, os, sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

class Without(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in %r.split():
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Without())
import importlib.util
found = importlib.util.find_spec
def find_spec(name, package=None):
    try:
        return found(name, package)
    except ModuleNotFoundError:
        return None
importlib.util.find_spec = find_spec
from longmark import cli

for words in sys.stdin.read().splitlines():
    out, err = StringIO(), StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            code = cli.main(words.split())
        except SystemExit as error:
            code = error.code
    print(json.dumps([words, code, err.getvalue(), sorted(os.listdir("."))]))
"""


def test_a_missing_extra_is_named_before_anything_is_asked_or_written(tmp_path: Path):
    (tmp_path / "answers.jsonl").write_text(
        '{"question": "q", "answer": "a", "contexts": ["c"], "reference": "r"}\n'
    )
    (tmp_path / "questions.jsonl").write_text(
        '{"question": "Which floods hit Chicago?", "profile": {}}\n'
    )
    (tmp_path / "answers.parquet").write_bytes(b"PAR1")
    (tmp_path / "pretrain.yaml").write_text("model: hf:any\ntrain: documents\nout: new\n")
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "one.txt").write_text("Pipes freeze.")
    before = sorted(path.name for path in tmp_path.iterdir())
    done = subprocess.run(
        [sys.executable, "-c", BARE % EXTRAS],
        input="\n".join(COMMANDS),
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""
    wrong = [
        (words, code, said)
        for words, code, said, there in map(json.loads, done.stdout.splitlines())
        if code != 2 or f"longmark[{COMMANDS[words]}]" not in said or there != before
    ]
    assert wrong == []
    assert len(done.stdout.splitlines()) == len(COMMANDS)
