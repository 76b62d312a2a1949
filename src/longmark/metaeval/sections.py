"""A meta-evaluation as sections (tables, figures, sentences), and the page that they make."""

from __future__ import annotations

from longmark.metaeval.result import Metaeval, RatingLabel
from longmark.metaeval.sections_choices import choice_sections
from longmark.metaeval.sections_people import join_section, people_section
from longmark.metaeval.sections_ratings import rating_sections
from longmark.report.document import Document, Section
from longmark.report.words import counted


def sections(found: Metaeval) -> tuple[Section, ...]:
    """All sections, label by label; with several labels their titles and tables bear the label's name."""
    made: list[Section] = []
    several = len(found.labels) > 1
    taken: set[str] = set()
    for part in found.labels:
        heading = f"{part.label}: " if several else ""
        prefix = _prefix(part.label, taken) if several else ""
        made.append(join_section(part, heading, prefix))
        if part.join.joined:
            if isinstance(part, RatingLabel):
                made += rating_sections(part, heading, prefix, found.alpha)
            else:
                made += choice_sections(part, heading, prefix, found.alpha)
        what = "answer" if isinstance(part, RatingLabel) else "pair"
        made.append(people_section(part.people, heading, prefix, found.alpha, what))
    return tuple(made)


def _prefix(label: str, taken: set[str]) -> str:
    """A name for a label's files, no two alike."""
    plain = "_".join("".join(c if c.isascii() and c.isalnum() else " " for c in label.casefold()).split())[:40]
    name = plain or "label"
    number = 2
    while name in taken:
        name = f"{plain or 'label'}_{number}"
        number += 1
    taken.add(name)
    return f"{name}_"


def document(found: Metaeval) -> Document:
    """The page of a meta-evaluation."""
    joined = sum(part.join.joined for part in found.labels)
    rated = all(isinstance(part, RatingLabel) for part in found.labels)
    what = "rated answer" if rated else "compared pair"
    return Document(
        kind="meta-evaluation",
        title="Metrics against people",
        lede=f"{counted(len(found.metrics), 'metric')}, {counted(len(found.labels), 'label')}, "
        f"{counted(joined, what)}; rows of {', '.join(found.sources)}; people from {found.human}",
        sections=sections(found),
        notices=found.notices,
        settings={
            "rows": list(found.sources),
            "human": found.human,
            "metrics": dict(found.metrics),
            "broken down by": list(found.by),
            "order of categories": {name: ", ".join(words) for name, words in found.order.items()},
            "values rounded to": found.round,
            "alpha": found.alpha,
            "seed": found.seed,
        },
    )
