"""The embedded judge's replies for the demo's answers, recorded once and shipped as a call cache.

    python -m bench.demo_record [WORK]

It asks at the lowest priority, question by question, and prints how many scores are done, how many left, and when it
will end. WORK (default: `.demo-record`) has the run and its call cache; the same command resumes it. What was recorded
so far is written to `src/longmark/contrib/demo/data/calls.sqlite.gz` at the end, and when it is stopped with Ctrl-C: an
ordinary call cache, compressed. Remove WORK where the texts have changed. About 55,000 tokens are read: half an hour on
two idle cores, and many hours beside other programs.
"""

from __future__ import annotations

import gzip
import os
import sys
import time
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path

from longmark.contrib.demo.recorded import ANSWERS, JUDGED, RECORDED, SYSTEMS, missed
from longmark.engine.run import finish, make_settings
from longmark.engine.session import execute
from longmark.engine.settings import RunOptions
from longmark.models.cache import CallCache
from longmark.models.protocols import Chat
from longmark.models.registry import Registry
from longmark.models.stores.copying import copy_replies
from longmark.models.stores.sqlite import SqliteStore
from longmark.records.write import read_rows


def record(work: Path, answers: Path = ANSWERS, judge: str | Chat = "embedded") -> None:
    """Asks for what is missing, as many calls as the answers to one question need in one session."""
    options = RunOptions(judges=[judge], scoring="expected", keep_going=True)
    began, asked = time.monotonic(), 0
    with closing(CallCache(work / "calls.sqlite")) as cache:
        settings = make_settings(JUDGED, Registry(cache), options)
        while True:
            few = replace(options, max_calls=len(SYSTEMS) * len(JUDGED))
            result = finish(partial(execute, answers, settings, work / "run", cache, few))
            done = sum(row.status == "ok" for row in result.rows())
            _, left = result.to_finish() or (None, 0)
            asked += result.counts.calls
            minutes = left * (time.monotonic() - began) / asked / 60 if asked else 0
            print(f"{done} scores done, {left} left, {minutes:.0f} min to go", flush=True)
            if result.stopped != "budget":
                break


def export(work: Path, out: Path) -> int:
    """Writes the replies; how many. ValueError where the cache has others too, of texts that have changed since."""
    file = work / "export.sqlite"
    file.unlink(missing_ok=True)
    with closing(CallCache(work / "calls.sqlite")) as cache:
        keys = [key for (key,) in cache.do("SELECT key FROM calls ORDER BY key")]
        copy_replies(cache.store, copy := SqliteStore(file), keys)
    copy.one_file()
    copy.close()
    rows = sum(
        row.usage.calls + row.usage.from_cache for row in read_rows(work / "run" / "rows.jsonl")
    )
    if rows < len(keys):
        raise ValueError(
            f"{work} has {len(keys)} replies for {rows} calls: the texts have changed; remove it"
        )
    out.write_bytes(gzip.compress(file.read_bytes(), mtime=0))
    return len(keys)


def main(work: Path) -> None:
    os.nice(19)
    work.mkdir(parents=True, exist_ok=True)
    try:
        record(work)
    except KeyboardInterrupt:
        print("stopped; the same command resumes")
    count = export(work, RECORDED)
    print(
        f"{count} replies, {missed(work / 'calls.sqlite')} missing, {RECORDED.stat().st_size:,} bytes: {RECORDED}"
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]) if sys.argv[1:] else Path(".demo-record"))
