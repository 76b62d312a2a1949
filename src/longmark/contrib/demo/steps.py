"""The steps of `longmark demo`, in their order:

scores      four metrics of the judge from the recording, metrics of words live
alone       each answer without its defects, and with each of them alone, by the metrics of words
checked     the sentences of the answers by the claim checker, from the recording
recalled    which listed facts the answers hold, by the claim checker, from the recording
live        two answers judged before the reader's eyes, beside their recorded scores
pages       comparison, defects, report, and `index.html`, which says the result and links them
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path

from longmark.contrib.demo.recorded import (
    CHECKS,
    NOW,
    RECORDED,
    SYSTEMS,
    RecordedJudge,
    judged_now,
    unpacked,
)
from longmark.contrib.local import catalogue
from longmark.models.protocols import Chat
from longmark.writing import check_database, check_within
from longmark.writing import folder as make_folder


def run_demo(out: Path, *, live: bool = False, judge: str | Chat = "embedded") -> int:
    """Scores the answers into `out`, writes the pages, prints the result and the time; 0. live: asks the judge for all
    240 scores, and for those of the recording not at all; the same command continues."""
    began = time.monotonic()
    print(
        f"60 long answers of {len(SYSTEMS)} systems to 15 questions. We put known defects into them, so no human "
        "ratings are needed.",
        flush=True,
    )
    make_folder(out)
    folders = ("alone", "compare", "defects", "now", "recalled", "recalled-alone")
    for name in (*folders, "scores-live", "scores-recorded"):
        check_within(out, out / name)
    cache = out / ("live.sqlite" if live else "recorded.sqlite")
    checks = out / "checks.sqlite"
    for file in (cache, checks):
        check_database(file)
    unpacked(CHECKS, checks)
    if live:
        print(
            "Asking the embedded judge for 240 scores: half an hour on two idle cores.", flush=True
        )
        source = "asked for by this command"
    else:
        count, day = unpacked(RECORDED, cache)
        source = f"recorded on {day}: {count} replies of {catalogue.entry('judge').title}"
        print(f"The judge's scores were {source}.", flush=True)
    from longmark.contrib.demo.computed import Demo  # needs NumPy
    from longmark.contrib.demo.page import in_words, write_pages

    judge_used = judge if live else RecordedJudge()
    demo = Demo.scored(out, judge_used, cache, checks, source, tell=partial(print, flush=True))
    if not live:
        print(f"Judging {len(NOW)} answers live …", flush=True)
        demo = demo.with_live(judged_now(out, judge))
    write_pages(demo, out)
    print()
    for line in in_words(demo):
        print(line)
    pages = {
        "index.html": "start here: which system is better, the worst answers, which metric sees which defect",
        "report.html": "every answer with its scores, what supports its sentences, and the judge's replies",
        "compare/report.html": "the systems compared, with tests and intervals",
        "defects/report.html": "each defect beside the answer without it: rates, intervals, false alarms",
    }
    width = max(map(len, pages))
    for name, description in pages.items():
        print(f"{out}/{name:{width}}  {description}")
    print(f"{time.monotonic() - began:.0f} seconds")
    return 0
