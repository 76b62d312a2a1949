"""Which judges' replies had a verdict: counted for each judge, metric and prompt, and kept in the run's manifest.

A reply counts if a metric asked for a verdict (`longmark.judge.ask`) and the reply was sent for in this run. It has a
verdict if it could be read. It has none if it could not be read, first or second of a question alike; if the judge
declined; if it was cut off while the judge was thinking; or if it has no log-probabilities where they are read. A reply
out of the cache costs nothing: it never counts against a judge, but for it where it can be read. An error is no reply.
The reason that is asked for after a score, and what a metric asks a model without `ask`, are no verdicts.

A judge cannot be read if none of its first 20 replies has a verdict: of all its replies in the run, of those to one
metric, or of those to one prompt of a metric. One reply with a verdict ends that count for good, in later sessions too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from longmark.progress import counted
from longmark.records.metric_name import base_of

FIRST = 20  # replies without a verdict, after which a judge is taken to be unreadable
_STATUSES = (
    "unparsable",
    "refused",
    "unsupported",
)  # of rows whose judge replied without a verdict
_SHOWN = 3
_LONGEST = 200  # replies, and characters of each


class AskedPrompt(NamedTuple):
    """Who is asked for a verdict, and for what: the names of a judge and a metric, the id of a prompt."""

    judge: str
    metric: str
    prompt: str


@dataclass(frozen=True, slots=True)
class UnreadableJudge:
    """A judge that cannot be read. metrics: to which its replies were; prompt: to which they were, "" for several;
    count: of the replies; replies: the first of them, shortened."""

    judge: str
    metrics: tuple[str, ...]
    prompt: str
    count: int
    replies: tuple[str, ...]

    def __str__(self) -> str:
        to = ", ".join(self.metrics)
        prompt = f" (prompt {self.prompt})" if self.prompt not in ("", to) else ""
        replies = counted(self.count, "reply", "replies")
        return f"none of the first {replies} of {self.judge} for {to}{prompt} has a verdict"

    def covers(self, metric: str, status: str) -> bool:
        """Whether a row of this score and status may be unscored for it."""
        names = tuple(f"{base_of(name)}." for name in self.metrics)
        return status in _STATUSES and f"{base_of(metric)}.".startswith(names)


class Verdicts:
    """The counts of a run. kept: what its manifest keeps, judge -> metric -> prompt -> {"unreadable": replies without a
    verdict, 0 once one had one; "replies": the first of them}. before: what it kept before; read_before: what
    had a verdict then, with the prompt "" for calls that are to have none."""

    def __init__(self, before: Any = None) -> None:
        self.kept = {
            judge: {
                name: {p: leaf for p, leaf in _items(prompts) if _is_leaf(leaf)}
                for name, prompts in _items(metrics)
            }
            for judge, metrics in _items(before)
        }
        self.read_before = frozenset(
            AskedPrompt(judge, metric, prompt)
            for judge, metrics in self.kept.items()
            for metric, prompts in metrics.items()
            for read in prompts.items()
            if not _of(read[1])[0]
            for prompt in (read[0], "")
        )

    def hear(self, question: AskedPrompt, text: str, *, read: bool, sent: bool) -> bool:
        """Counts a reply; whether that changed anything. read: it has a verdict; sent: it was sent for now."""
        prompts = self.kept.setdefault(question.judge, {}).setdefault(question.metric, {})
        before = prompts.get(question.prompt)
        count, quoted = _of(before)
        if (before is not None and count == 0) or not (read or sent):
            return False
        text = " ".join(text.split())
        replies = [*quoted, text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"][:_SHOWN]
        prompts[question.prompt] = (
            {"unreadable": 0} if read else {"unreadable": count + 1, "replies": replies}
        )
        return read or count < FIRST

    def counts(self, question: AskedPrompt) -> Iterator[tuple[tuple[str, ...], int]]:
        """The replies without a verdict of a judge, to a metric and to a prompt, each with its key; not those that had
        a verdict among them."""
        metrics = self.kept.get(question.judge, {})
        prompts = metrics.get(question.metric, {})
        if question.prompt in prompts and not _of(prompts[question.prompt])[0]:
            return
        for key, leaves in (
            (question[:1], [leaf for prompts in metrics.values() for leaf in prompts.values()]),
            (question[:2], list(prompts.values())),
            (question[:3], [prompts[question.prompt]] if question.prompt in prompts else []),
        ):
            unread = [_of(leaf)[0] for leaf in leaves]
            if all(unread):
                yield key, sum(unread)

    def forget(self) -> None:
        """Counts from 0 where no reply had a verdict: the judge may have been mended."""
        for metrics in self.kept.values():
            for prompts in metrics.values():
                for prompt in [key for key, leaf in prompts.items() if _of(leaf)[0]]:
                    del prompts[prompt]

    def unreadable(self) -> list[UnreadableJudge]:
        """The judges that cannot be read, each for all metrics, a metric or a prompt."""
        return list(unreadable(self.kept))


def in_words(judges: Iterable[UnreadableJudge]) -> str:
    """Which judges cannot be read, with the first replies of each, a line each."""
    lines: list[str] = []
    for judge in judges:
        lines.append(f"{judge}. Its first replies:")
        lines += [f"  {number}. {text}" for number, text in enumerate(judge.replies, 1)]
    return "\n".join(lines)


def unreadable(counts: Any) -> Iterator[UnreadableJudge]:
    """The judges that cannot be read, by what a manifest has kept; parts of another form are left out."""
    for judge, metrics in _items(counts):
        prompts = [
            UnreadableJudge(judge, (metric,), prompt, *_of(leaf))
            for metric, leaves in _items(metrics)
            for prompt, leaf in _items(leaves)
        ]
        of_metrics = [
            [prompt for prompt in prompts if prompt.metrics == (name,)]
            for name, _ in _items(metrics)
        ]
        reported: list[UnreadableJudge] = []
        for some in (prompts, *of_metrics, *([prompt] for prompt in prompts)):
            count = sum(prompt.count for prompt in some)
            if (
                count >= FIRST
                and all(prompt.count for prompt in some)
                and not any(prompt in reported for prompt in some)
            ):
                reported += some
                names = tuple(dict.fromkeys(name for prompt in some for name in prompt.metrics))
                ids = {prompt.prompt for prompt in some}
                replies = tuple(text for prompt in some for text in prompt.replies)[:_SHOWN]
                yield UnreadableJudge(
                    judge, names, ids.pop() if len(ids) == 1 else "", count, replies
                )


def together(all_counts: Iterable[Any]) -> dict[str, Any]:
    """What the manifest of one run keeps that was several: counts are added, and a verdict in one ends them."""
    whole: dict[str, Any] = {}
    for kept_verdicts in all_counts:
        for judge, metrics in Verdicts(kept_verdicts).kept.items():
            for metric, leaves in metrics.items():
                prompts = whole.setdefault(judge, {}).setdefault(metric, {})
                for prompt, leaf in leaves.items():
                    (before, quoted), (count, further) = _of(prompts.get(prompt)), _of(leaf)
                    ended = not count or (prompt in prompts and not before)
                    summed = {"unreadable": before + count, "replies": [*quoted, *further][:_SHOWN]}
                    prompts[prompt] = {"unreadable": 0} if ended else summed
    return whole


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _is_leaf(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("unreadable"), int)


def _of(leaf: Any) -> tuple[int, tuple[str, ...]]:
    """How many replies had no verdict, and the first of them."""
    if not _is_leaf(leaf):
        return 0, ()
    replies = leaf.get("replies")
    return leaf["unreadable"], tuple(map(str, replies)) if isinstance(replies, list) else ()
