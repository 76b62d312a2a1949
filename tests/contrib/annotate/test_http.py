"""Simulated raters over HTTP: every template is labelled through its forms, and the stored labels are those given."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from bench.annotate_agreement import one_study
from tests.contrib.annotate.serving import serving
from tests.contrib.annotate.studies import set_up, some_values

from longmark.contrib.annotate.export import export
from longmark.contrib.annotate.study import TEMPLATES
from longmark.contrib.annotate.values import form_of


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_raters_post_is_what_is_stored(tmp_path: Path, name: str):
    study, items = set_up(tmp_path, name, 3)
    known, chance = {item.id: item for item in items}, random.Random(name)
    given = {}
    with serving(tmp_path / "STUDY.yaml") as served:
        raters = ["Ann", "Bo"][: study.assignment.overlap]
        for rater in raters:
            client = served.person(rater)
            while (item := client.next()) is not None:
                store = served.store()
                (own,) = [one for one in store.assignments(item) if one.status == "open"]
                values = some_values(study, known[item], chance)
                reply = client.label(item, form_of(study, known[item], values, swapped=own.swapped))
                assert reply.status == 303, reply.text
                given[item, own.person_id] = values
                store.close()
        store = served.store()
        assert {(one.item_id, one.person_id): one.values for one in store.answers()} == given
        assert len(given) == 3 * len(raters)
        assert "labels.jsonl" in {
            path.name for path in export(study, items, store, tmp_path / "out")
        }
        store.close()


def test_the_exported_agreement_is_that_of_the_planted_labels():
    # `one_study` asserts that labels.jsonl holds what the raters chose; the interval is that of 20 items
    found = one_study(seed=5, n=20, kappa=0.6)
    value, low, high = found["Cohen's kappa"]
    assert low < value < high
    assert low < 0.6 < high
