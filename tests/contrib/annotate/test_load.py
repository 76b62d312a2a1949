"""Many people at once, small (bench/annotate.py has the figures of 50 people on 200 items)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from urllib.parse import urlsplit

from bench.annotate import crowd, make
from tests.contrib.annotate.serving import serving


def test_nothing_is_lost_or_doubled_when_twelve_people_post_at_once(tmp_path: Path):
    people, items = 12, 15
    with serving(make(tmp_path, items, people)) as served:
        links = [urlsplit(served.link(f"Rater {n}")).path for n in range(people)]
        _, done, _ = asyncio.run(crowd(served.url, links, False))
        assert [len(own) for own in done] == [items] * people
        store = served.store()
        stored = {(one.item_id, one.person_id): one.version for one in store.answers()}
        assert len(stored) == people * items
        assert set(stored.values()) == {1}
        assert sum(event.kind == "submitted" for event in store.events()) == people * items
        places = [
            [one.position for one in store.assignments(person=f"p{n + 1}")] for n in range(people)
        ]
        assert places == [list(range(1, items + 1))] * people
        store.close()
