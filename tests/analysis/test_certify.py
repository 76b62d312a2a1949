"""`certify`, and `verify` of a certificate: what is granted, each reason of a refusal, what a changed input does."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.compare.runs import run_of, signed
from tests.program import Done, run, write_jsonl
from tests.report.runs import RELEVANCE, manifest, row, write_run

from longmark.analysis.audit import declared
from longmark.analysis.certify import Claimed, certify, document, read_certificate, verify
from longmark.errors import UserError
from longmark.records import Example

N = 120
CLAIM = f"b better than a on {RELEVANCE}"


def truth() -> dict[str, list[float]]:
    chance = random.Random(3)
    return {name: [min(5, max(1, chance.gauss(mean, 0.8))) for _ in range(N)] for name, mean in (("a", 2.5), ("b", 3))}


def labels(share: float = 0.6, raters: int = 2) -> list[dict[str, Any]]:
    """Of a random sample of questions, with its probability."""
    chance, found = random.Random(5), []
    for i in range(N):
        if chance.random() < share:
            for system, values in truth().items():
                for rater in range(raters):
                    value = round(min(5, max(1, values[i] + chance.gauss(0, 0.3))))
                    about = {"example_id": f"{system}-{i}", "rater": f"r{rater}", "value": value}
                    found.append(about | {"inclusion_probability": share})
    return found


def scores() -> dict[str, dict[str, list[float | None]]]:
    chance = random.Random(4)
    made = {name: [one / 5 + chance.gauss(0, 0.1) for one in values] for name, values in truth().items()}
    return {name: {RELEVANCE: [min(1, max(0, one)) for one in values]} for name, values in made.items()}


FINISHED = manifest() | {"finished": True}


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("certified")
    run_of(folder / "both", scores(), described=FINISHED)
    write_jsonl(folder / "labels.jsonl", labels())
    return folder


@pytest.fixture
def claimed(inputs: Path, tmp_path: Path) -> Claimed:
    """Of a copy of the inputs, which a test may change."""
    shutil.copytree(inputs, tmp_path, dirs_exist_ok=True)
    runs, file = (str(tmp_path / "both"),), str(tmp_path / "labels.jsonl")
    return Claimed(claim=CLAIM, runs=runs, labels=file, mapping={}, order={})


def test_a_claim_that_labels_bear_out_is_granted(claimed: Claimed):
    found = certify(claimed)
    assert (found["granted"], found["missing"]) == (True, [])
    assert found["claim"] == f"b is better than a on {RELEVANCE}"
    assert 0 < found["difference"]["low"] < 0.5 < found["difference"]["high"]
    assert found["labels"]["answers"] == {"b": 69, "a": 69}
    assert found["labels"]["agreement"]["low"] > 0.5
    assert found["judge"]["models"] == FINISHED["fixed"]["models"]
    assert [Path(one["path"]).name for one in found["inputs"]] == [
        *("manifest.json", "examples.jsonl", "rows.jsonl", "labels.jsonl")
    ]
    page = document(found)
    assert page.title == f"Certified: b is better than a on {RELEVANCE} (as these 2 raters judge)"
    assert page.sections[0].says.startswith("If these raters labelled every answer, b would be ")
    again = certify(claimed)
    assert {**again, "made": 0} == {**found, "made": 0}


def test_the_other_way_round_is_refused_though_it_is_significant(claimed: Claimed):
    found = certify(replace(claimed, claim=f"a better than b on {RELEVANCE}"))
    assert not found["granted"]
    (why,) = found["missing"]
    assert why.startswith("A difference above 0: the corrected one is -0.")


def relabelled(*args: Any) -> Callable[[Path], Any]:
    return lambda folder: write_jsonl(folder / "labels.jsonl", labels(*args))


def without_chances(folder: Path) -> None:
    its = [{name: one[name] for name in ("example_id", "rater", "value")} for one in labels()]
    write_jsonl(folder / "labels.jsonl", its)


def at_random(folder: Path) -> None:
    chance = random.Random(1)
    write_jsonl(folder / "labels.jsonl", [{**one, "value": chance.randint(1, 5)} for one in labels()])


def never_apart(folder: Path) -> None:
    """Labels and scores that have the same difference on each question: the labels against the claim."""
    its = [{**one, "value": 3 + (one["rater"] == "r1") - one["example_id"].startswith("b")} for one in labels()]
    write_jsonl(folder / "labels.jsonl", its)
    rescored(lambda values: values.update({name: {RELEVANCE: [0.5] * N} for name in values}))(folder)


def rescored(change: Callable[[dict[str, Any]], Any], **described: Any) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        values = scores()
        change(values)
        shutil.rmtree(folder / "both")
        run_of(folder / "both", values, described=FINISHED | described)

    return changed


def unscore(values: dict[str, Any]) -> None:
    values["b"][RELEVANCE][::3] = [None] * (N // 3)


def unscored_and_unlabelled(folder: Path) -> None:
    rescored(unscore)(folder)
    kept = [
        label for label in labels() if not (label["example_id"][0] == "b" and int(label["example_id"][2:]) % 3 == 0)
    ]
    write_jsonl(folder / "labels.jsonl", kept)


def with_unknown_ids(folder: Path) -> None:
    write_jsonl(folder / "labels.jsonl", [*labels(), {**labels()[0], "example_id": "b-999"}])


def of_another_text(folder: Path) -> None:
    """The label's hash is of another text than the run's answer has."""
    examples = [json.loads(line) for line in (folder / "both" / "examples.jsonl").read_text().splitlines()]
    write_jsonl(folder / "both" / "examples.jsonl", [{**example, "answer": "A text."} for example in examples])
    write_jsonl(folder / "labels.jsonl", [{**labels()[0], "answer_sha256": "0123456789abcdef"}, *labels()[1:]])


def labelled_twice(folder: Path) -> None:
    write_jsonl(folder / "labels.jsonl", [*labels(), labels()[0]])


def with_an_empty_one(folder: Path) -> None:
    write_jsonl(folder / "labels.jsonl", [*labels(), {**labels()[0], "rater": "r3", "value": None}])


def other_judge(folder: Path) -> None:
    lines = (folder / "both" / "rows.jsonl").read_text().splitlines()
    other = signed(models={"judge": ["another"]})
    changed = row("b-0", RELEVANCE, 0.5, question_id="q0", system="b", signature=other).to_json().decode()
    (folder / "both" / "rows.jsonl").write_text("\n".join([changed, *(one for one in lines if '"b-0"' not in one)]))


def audited(folder: Path, judge: str) -> str:
    """An audit that found an effect of length."""
    rows = [row(f"{i}", f"length.{RELEVANCE}", 0.2 + i / 100, question_id=f"q{i}", system=judge) for i in range(12)]
    examples = [Example(id=f"{i}", question_id=f"q{i}", system=judge) for i in range(12)]
    described = {"metrics": declared(RELEVANCE, 1.0), "fixed": {}, "sessions": [], "finished": True}
    write_run(folder / "audit" / "effects", examples, rows, described)
    return str(folder / "audit")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (relabelled(0.3), "Labels of b: 33 of at least 50 answers. Draw more by `longmark label next`."),
        (relabelled(0.6, 1), "Agreement of raters: let two raters or more label the same answers."),
        (without_chances, "How the labelled answers were chosen: the labels have no inclusion_probability."),
        (at_random, "Raters who agree: Krippendorff's alpha may be 0 ("),
        (at_random, "A difference above 0: the corrected one is"),
        (
            never_apart,
            "and the ends of the labels' scale are not known. Name every value of the scale, lowest first: --order",
        ),
        (rescored(lambda _: None, finished=False), "The rest of"),
        (lambda folder: (folder / "both" / "manifest.json").unlink(), "it has no manifest"),
        (other_judge, "One way of scoring: the scores were made in different ways"),
        (unscored_and_unlabelled, "% of a system's answers have neither a score nor a label that counts"),
        (with_unknown_ids, "Labels of answers of these runs: 1 labelled answer could not be joined (no such answer"),
        (of_another_text, "1 labelled answer could not be joined (the text of the answer is not the one"),
        (labelled_twice, "One label of a rater for an answer: 1 label were given again."),
        (with_an_empty_one, "Labels with a value: 1 line of"),
        (rescored(lambda _: None, stopping={"rule": {}}), "A run with a fixed number of questions:"),
    ],
)
def test_a_refusal_lists_what_is_missing(claimed: Claimed, change: Callable[[Path], Any], message: str):
    folder = Path(claimed.labels).parent
    change(folder)
    found = certify(claimed)
    assert not found["granted"]
    assert any(message in line for line in found["missing"]), found["missing"]
    assert document(found).title.startswith("Not certified: ")


def test_an_audit_of_the_judge_stands_in_the_certificate(claimed: Claimed):
    folder = Path(claimed.labels).parent
    (judge,) = FINISHED["fixed"]["models"]["judge"]
    found = certify(replace(claimed, audit=audited(folder, judge)))
    assert found["granted"]
    assert found["judge"]["audit"] == [f"{judge} gives 0.255 more for every 100 words of padding."]
    assert len(found["inputs"]) == 6
    (why,) = certify(replace(claimed, audit=audited(folder / "other", "another")))["missing"]
    assert why.startswith(f"An audit of this judge on {RELEVANCE}: ")


def test_the_word_of_the_caller_replaces_probabilities_and_stands_in_the_certificate(claimed: Claimed):
    without_chances(Path(claimed.labels).parent)
    found = certify(replace(claimed, equal_chances=True))
    assert found["granted"]
    assert any("Whoever asked for this certificate says so." in line for line in found["assumptions"])


def test_raters_agree_as_they_did_though_a_final_label_counts(claimed: Claimed):
    finals = [{**one, "rater": "final"} for one in labels() if one["rater"] == "r0"]
    write_jsonl(Path(claimed.labels), [*labels(), *finals])
    decided = certify(claimed)
    assert decided["labels"]["raters"] == 1
    write_jsonl(Path(claimed.labels), labels())
    assert decided["labels"]["agreement"] == certify(claimed)["labels"]["agreement"]


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        ("b beats a", "expected 'A better than B on METRIC', found 'b beats a'"),
        ("b better than a on m.x", "m.x"),
        (f"b better than c on {RELEVANCE}", "unknown system: c"),
    ],
)
def test_a_claim_about_nothing_is_an_error(claimed: Claimed, claim: str, message: str):
    with pytest.raises(UserError, match=message):
        certify(replace(claimed, claim=claim))


def done(folder: Path, *words: str) -> Done:
    return run(*words, home=folder / "home", cwd=folder)


COMMAND = ("certify", "both", "--labels", "labels.jsonl", "--claim", CLAIM, "--out", "out")


def test_the_verbs(claimed: Claimed, tmp_path: Path):
    made = done(tmp_path, *COMMAND)
    assert (made.code, made.err) == (0, "")
    assert made.out.startswith(f"Certified: b is better than a on {RELEVANCE} (as these 2 raters judge)\nIf these ")
    assert "What voids it" in (tmp_path / "out" / "report.html").read_text()
    checked = done(tmp_path, "verify", "out/certificate.json")
    assert (checked.code, checked.err) == (0, "")
    assert "4 inputs: the same when it is computed again.\nNot signed.\n" in checked.out
    certificate = json.loads((tmp_path / "out" / "certificate.json").read_text())
    certificate["difference"]["low"] = 0.4
    (tmp_path / "out" / "certificate.json").write_text(json.dumps(certificate))
    forged = done(tmp_path, "verify", "out")
    assert forged.code == 3
    assert "changed: difference.low: the certificate has 0.4, computed again it is 0." in forged.out
    (tmp_path / "both" / "absent.jsonl").write_text("")
    with open(tmp_path / "labels.jsonl", "a") as file:
        file.write("\n")
    changed = done(tmp_path, "verify", "out/certificate.json")
    assert changed.code == 3
    assert "changed: labels.jsonl: has changed since it was certified" in changed.out
    assert "changed: both/absent.jsonl: is not among the inputs that were certified" in changed.out
    (tmp_path / "labels.jsonl").unlink()
    assert "labels.jsonl: is missing" in done(tmp_path, "verify", "out/certificate.json").out
    refused = done(tmp_path, "verify", "both", "--signers", "x")
    assert refused.err == "longmark: --signers is for a certificate of `longmark certify`\n"


@pytest.mark.parametrize("text", ['{"longmark_certificate": 3}', '{"longmark_certificate": 2, "claim": "x"}'])
def test_a_damaged_certificate_is_an_error(tmp_path: Path, text: str):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(UserError, match=r"certificate"):
        verify(read_certificate(tmp_path / "c.json"))


@pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen of OpenSSH is not installed")
def test_a_signature_is_of_this_certificate_and_of_a_signer(claimed: Claimed, tmp_path: Path):
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", tmp_path / "key"], check=True)
    public = (tmp_path / "key.pub").read_text()
    (tmp_path / "signers").write_text(f'me@example.org namespaces="longmark" {public}')
    (tmp_path / "nobody").write_text("")
    checking = ("verify", "out/certificate.json")
    assert done(tmp_path, *COMMAND, "--sign", "key").code == 0
    signed_by = done(tmp_path, *checking, "--signers", "signers")
    assert (signed_by.code, "signature for me@example.org with ED25519 key" in signed_by.out) == (0, True)
    assert done(tmp_path, *checking, "--signers", "nobody").code == 3
    unknown = done(tmp_path, *checking)
    assert (unknown.code, "Whose key it is was not checked" in unknown.out) == (0, True)
    path = tmp_path / "out" / "certificate.json"
    path.write_text(path.read_text().replace('"granted": true', '"granted":  true'))
    assert done(tmp_path, *checking).code == 3
    (tmp_path / "out" / "certificate.json.sig").unlink()
    assert "Not signed: out/certificate.json.sig is missing." in done(tmp_path, *checking, "--signers", "signers").out


def test_a_certificate_makes_verify_read_no_file_outside_of_the_folder_unless_it_is_trusted(
    claimed: Claimed, tmp_path: Path
):
    there, other = tmp_path / "out" / "certificate.json", tmp_path / "elsewhere"
    other.mkdir()
    (tmp_path / "secret.jsonl").write_text("{}")
    shutil.move(tmp_path / "both", other / "both")
    shutil.move(tmp_path / "labels.jsonl", other / "labels.jsonl")
    assert done(other, *COMMAND).code == 0
    content = json.loads((other / "out" / "certificate.json").read_text())
    secret = str(tmp_path / "secret.jsonl")
    for change in (
        {"inputs": [{"path": secret, "sha256": "0"}]},
        {"options": content["options"] | {"labels": "../secret.jsonl"}},
        {"options": content["options"] | {"runs": [secret]}},
    ):
        (other / "c.json").write_text(json.dumps(content | change))
        asked = done(other, "verify", "c.json")
        assert (asked.code, asked.out) == (2, "")
        assert f"reads {tmp_path / 'secret.jsonl'}, outside of the working folder" in asked.err
        assert "secret.jsonl: has changed" in done(other, "verify", "c.json", "--trust").out or "options" in change
    assert not there.exists()


def test_a_certificate_of_files_elsewhere_is_trusted_where_it_was_made(claimed: Claimed, tmp_path: Path):
    (tmp_path / "work").mkdir()
    command = [str(tmp_path / word) if word in ("both", "labels.jsonl") else word for word in COMMAND]
    assert run(*command, home=tmp_path / "home", cwd=tmp_path / "work").code == 0
    checked = run("verify", "out", home=tmp_path / "home", cwd=tmp_path / "work")
    assert (checked.code, checked.err) == (0, "")
    assert run("verify", "out", home=tmp_path / "other", cwd=tmp_path / "work").code == 2


@pytest.mark.parametrize(
    "options", [{"runs": 5}, {"labels": None}, {"labels": "a\0b"}, {"runs": [[]]}, {"draw": {}}, [], {"more": 1}]
)
def test_a_certificate_with_damaged_options_is_an_error(claimed: Claimed, tmp_path: Path, options: Any):
    made = certify(claimed)
    made["options"] = options if isinstance(options, list) else made["options"] | options
    (tmp_path / "c.json").write_text(json.dumps(made))
    checked = done(tmp_path, "verify", "c.json")
    assert (checked.code, "Traceback" in checked.err) == (2, False)
