"""Can a judge tell what a claim states, and whether the passages bear it out? Twelve claims that were labelled by hand.

`python -m bench.specificity [--judge embedded]` prints each claim with the labels that it should have and those that it
got, and how many are right, by label. The figures in design/small-judges.md come from here.
"""

from __future__ import annotations

import argparse
import asyncio
from collections import Counter

from longmark.errors import NoScore
from longmark.judge import numbered
from longmark.metrics.score.specificity import Juror, label_claim
from longmark.testing import open_models

PASSAGES = (
    "In January 2009 an ice storm left 700,000 customers in Kentucky without power; ice up to 5 cm thick broke 30,000 "
    "poles.",
    "Heat waves in Arizona have become longer since 1990. Asphalt softens above 60 degrees Celsius.",
)
# What a judge that looks through all claims at once may find in them
DETAILS = {
    "hazard": ["ice storm", "heat wave", "hurricane", "tornadoes"],
    "location": ["Kentucky", "Ohio", "Miami", "Arizona"],
    "timeline": ["2009", "1998", "2017", "since 1990"],
    "intensity": ["30,000 poles", "90,000 poles", "60 degrees Celsius"],
}
# claim -> labels on hazard, location, timeline, intensity
CLAIMS = {
    "Ice storms broke poles in Kentucky in 2009.": ("yes", "yes", "yes", "n/a"),
    "Crews should inspect splices regularly.": ("n/a", "n/a", "n/a", "n/a"),
    "A hurricane flooded Miami in 2017.": ("no", "no", "no", "n/a"),
    "Ice storms left customers in Ohio without power.": ("yes", "no", "n/a", "n/a"),
    "Heat waves soften asphalt.": ("yes", "n/a", "n/a", "n/a"),
    "The ice storm of 2009 broke 30,000 poles.": ("yes", "n/a", "yes", "yes"),
    "The ice storm of 1998 broke 90,000 poles.": ("yes", "n/a", "no", "no"),
    "Backup power keeps pumps running.": ("n/a", "n/a", "n/a", "n/a"),
    "Heat waves in Arizona have changed since 1990.": ("yes", "yes", "yes", "n/a"),
    "Tornadoes tear roofs from sheds.": ("no", "n/a", "n/a", "n/a"),
    "Asphalt softens above 60 degrees Celsius in Arizona.": ("n/a", "yes", "n/a", "yes"),
    "Work with the local government on a plan for rebuilding.": ("n/a", "n/a", "n/a", "n/a"),
}


async def _print_all(judge: str) -> None:
    right, total = Counter[str](), Counter[str]()
    async with open_models(judge=judge) as models:
        juror = Juror(models.judges[0])
        for claim, should in CLAIMS.items():
            try:
                labels = await label_claim(models, juror, claim, DETAILS, numbered(PASSAGES))
                got = [str(labels[name].label or "left out") for name in DETAILS]
            except NoScore as unscored:
                got = [unscored.status] * len(DETAILS)
            print(
                f"{claim}\n  should be {', '.join(should)}\n  labelled  {', '.join(got)}",
                flush=True,
            )
            total.update(should)
            right.update(one for one, its in zip(should, got, strict=True) if one == its)
    shares = ", ".join(f"{label} {right[label]} of {n}" for label, n in total.items())
    print(f"{right.total()} of {total.total()}: {shares}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.specificity", description=__doc__)
    parser.add_argument("--judge", default="embedded")
    arguments = parser.parse_args()
    asyncio.run(_print_all(arguments.judge))


if __name__ == "__main__":
    main()
