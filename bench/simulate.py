"""Lives through schedules of simulated processes, clocks, disks and endpoints (tests/simulation).

`python -m bench.simulate --schedules 10000 [--seed 0]`: those of the seeds from `--seed` on. Each that breaks a promise
is made smaller and printed, then the speed; exit code 1 where there was one. `--seed N --schedules 1` repeats one.
`--mutants`: for each planted bug how many schedules from seed 0 it takes to find it.
"""

from __future__ import annotations

import argparse
import sys
import time

from tests.simulation.mutants import MUTANTS, found
from tests.simulation.schedule import Schedule, run, shrunk


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.simulate", description=__doc__)
    parser.add_argument("--schedules", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mutants", action="store_true")
    given = parser.parse_args()
    if given.mutants:
        for name in MUTANTS:
            first = found(name, range(given.schedules))
            print(
                f"{first[0] + 1:6}  {name}: {first[1]}" if first else f"  none  {name}", flush=True
            )
        return 0
    began, broke = time.process_time(), 0
    for seed in range(given.seed, given.seed + given.schedules):
        if broken := run(Schedule.of(seed)):
            broke += 1
            spent = time.process_time()
            print(
                f"seed {seed}: {broken}\nthe smallest schedule like it:\n{shrunk(Schedule.of(seed))}\n",
                flush=True,
            )
            began += time.process_time() - spent
    seconds = time.process_time() - began
    print(
        f"{given.schedules} schedules, {broke} broke a promise; {given.schedules / seconds:.0f} a second of CPU"
    )
    return int(broke > 0)


if __name__ == "__main__":
    sys.exit(main())
