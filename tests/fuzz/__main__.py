"""The fuzzers by hand: `python -m tests.fuzz [NAME ...] --cases 200000 --seed 7`; one case: `NAME --seed 7 --case 12`.

Prints for each fuzzer its cases, its time and each way to fail, with the smallest input seen; exit code 1 where there
is one. `tests/fuzz/test_fuzz.py` runs this in processes of its own, with `--json` and `--at FILE`.
"""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import os
import resource
import shutil
import sys
import tempfile
import traceback
from dataclasses import asdict
from pathlib import Path

import orjson
from tests.fuzz import engine, parquet
from tests.fuzz.documents import DOCUMENTS
from tests.fuzz.files import FILES
from tests.fuzz.folders import FOLDERS
from tests.fuzz.replies import REPLIES

from longmark.records import arrow_files

FUZZERS = {fuzzer.name: fuzzer for fuzzer in (*FILES, *DOCUMENTS, *FOLDERS, *REPLIES)}
_ADDRESSES = (
    4 << 30
)  # bytes of addresses beyond those of the start: the machine outlives whatever asks for more


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"which: {', '.join(FUZZERS)} (default: all)"
    )
    parser.add_argument(
        "--cases", type=int, default=10_000, help="as many as all fuzzers together get"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--case", type=int, help="this one alone, with its traceback; its files are kept"
    )
    parser.add_argument("--json", action="store_true", help="one line of JSON for each fuzzer")
    parser.add_argument(
        "--at", type=Path, default=Path(os.devnull), help="a file that names the case under way"
    )
    given = parser.parse_args()
    # a process for each of hundreds of cases takes too long
    arrow_files.batches_of = parquet.batches_of
    faulthandler.enable()
    with contextlib.suppress(OSError, ValueError):
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + _ADDRESSES, used + _ADDRESSES))
    memory = Path("/dev/shm")
    base = Path(tempfile.mkdtemp(prefix="longmark-fuzz-", dir=memory if memory.is_dir() else None))
    (base / "home").mkdir()
    os.environ |= {
        "LONGMARK_HOME": str(base / "home"),
        "PATH": "",
    }  # without git, and without what the machine knows
    failed = False
    with given.at.open("wb", buffering=0) as at:

        def tell(case: str) -> None:
            at.seek(0)
            at.write(case.ljust(80).encode())

        for name in given.names or FUZZERS:
            fuzzer = FUZZERS[name]
            numbers = (
                range(max(1, fuzzer.share * given.cases // 10_000))
                if given.case is None
                else (given.case,)
            )
            report = engine.run(
                fuzzer,
                given.seed,
                numbers,
                base,
                tell,
                raised=None if given.case is None else _raised,
            )
            print(
                orjson.dumps(asdict(report)).decode() if given.json else report.shown(given.seed),
                flush=True,
            )
            failed |= bool(report.failures)
    if given.case is None:
        shutil.rmtree(base, ignore_errors=True)
    else:
        print(f"Its files are in {base / 'case'}.")
    return int(failed)


def _raised(error: BaseException) -> None:
    traceback.print_exception(error)


if __name__ == "__main__":
    sys.exit(main())
