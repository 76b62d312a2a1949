"""What a run tells of its metrics and its examples: how they read them, once with the number of answers, which of the
first examples a metric cannot score because its optional model is not named, and which are in a language that the
checker was not measured on, or are compared with texts in one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from longmark.engine.pairs import sides
from longmark.engine.settings import RunOptions, Settings
from longmark.metric import Remark
from longmark.metrics import Selected
from longmark.options import named
from longmark.records import Answered, Example, Pair
from longmark.records.read import ExampleSource, Reading
from longmark.text.language import NAMES, written_language

_PLACES_SHOWN = 5
_LONGEST_PLACE = 40  # characters
_FIRST = 200  # examples that are looked at for models that are not named, and for their language
_READ_OF_A_TEXT = 2000  # characters by which its language is known
_BY_SCRIPT = {"ar": "Arabic", "hi": "Hindi", "ja": "Japanese", "ko": "Korean", "zh": "Chinese"}


class Remarks:
    """Counts the remarks of metrics (`Metric.remarks`) while examples go through. A remark of two metrics, or of two
    sets of their parameters, is one."""

    def __init__(self, selected: Iterable[Selected]) -> None:
        self._asked = [chosen for chosen in selected if chosen.metric.remarks is not None]
        self._answers: Counter[str] = Counter()
        self._places: dict[str, Counter[str]] = {}

    def over(self, examples: Iterable[Answered]) -> Iterable[Answered]:
        """The examples as they are."""
        return self._counted(examples) if self._asked else examples

    def _counted(self, examples: Iterable[Answered]) -> Iterator[Answered]:
        for example in examples:
            remarks: list[Remark] = []
            for chosen in self._asked:
                assert chosen.metric.remarks is not None
                for answer in sides(chosen, example):
                    remarks += chosen.metric.remarks(answer, chosen.params)
            self._count(dict.fromkeys(remarks))
            yield example

    def _count(self, remarks: Iterable[Remark]) -> None:
        texts: dict[str, None] = {}
        for remark in remarks:
            texts[remark.text] = None
            self._places.setdefault(remark.text, Counter()).update(remark.places)
        self._answers.update(list(texts))

    def notices(self) -> Sequence[str]:
        """The most frequent first."""
        return [
            f"{count:,} {'answer' if count == 1 else 'answers'}: {remark}{self._shown(remark)}"
            for remark, count in self._answers.most_common()
        ]

    def _shown(self, remark: str) -> str:
        """The most frequent places that a remark is about, with how often each stands there, and how many are left."""
        places = self._places.get(remark)
        if not places:
            return ""
        frequent = places.most_common(_PLACES_SHOWN)
        texts = [f"{_short(place)} ({count:,})" for place, count in frequent]
        left_out = places.total() - sum(count for _, count in frequent)
        return f" {', '.join(texts)}{f', {left_out:,} others' if left_out else ''}"


def _short(place: str) -> str:
    return place if len(place) <= _LONGEST_PLACE else f"{place[: _LONGEST_PLACE - 1]}…"


def absent_models(
    settings: Settings, options: RunOptions, examples: ExampleSource | None
) -> Iterator[str]:
    """A sentence, before the first call, for each metric that needs a judge, or a checker, for some of the examples and
    has none. A row says it of its example; after a long run that is late."""
    backends = settings.backends
    takers = [
        chosen for chosen in settings.selected if {"judge", "checker"} & set(chosen.metric.optional)
    ]
    if backends.judges or not takers or examples is None or isinstance(examples, Iterator):
        return
    first = _first(options, examples)
    for chosen in takers:
        of_judge = sum(chosen.calls(example, 1) > chosen.checks(example) for example in first)
        of_checker = sum(bool(chosen.checks(example)) for example in first)
        judge = named("judges", "MODEL")
        if of_judge:
            yield _sentence(chosen, of_judge, len(first), "a judge", judge)
        elif of_checker and backends.checker is None:
            names = f"{judge} or {named('checker', 'MODEL')}"
            yield _sentence(chosen, of_checker, len(first), "a judge or a checker", names)


def untried_languages(
    settings: Settings, options: RunOptions, examples: ExampleSource | None
) -> Iterator[str]:
    """A sentence for each language of the first answers, and of what they are compared with, in which the checker's
    labels were not measured, or were measured to be worse. A checker says it by `tried_languages`: language -> what a
    user should know, "": nothing."""
    checker = settings.backends.checker
    tried: Mapping[str, str] | None = getattr(checker, "tried_languages", None)
    if checker is None or tried is None or examples is None or isinstance(examples, Iterator):
        return
    first = _first(options, examples)
    of_answers: Counter[str] = Counter()
    of_examples: Counter[str] = Counter()
    for example in first:
        takers = [chosen for chosen in settings.selected if chosen.checks(example)]
        if not isinstance(example, Example) or not takers:
            continue
        of_answer = _languages([example.answer or ""])
        of_answers.update(of_answer)
        compared_texts = _compared_texts(example, takers)
        of_compared = _languages(compared_texts)
        of_examples.update(of_answer | of_compared)
    measured = " and ".join(sorted(_language_name(language) for language in tried))
    for language, count in of_examples.most_common():
        if caution := tried.get(language, f"it was measured on {measured} only"):
            total = f"{len(first):,}"
            if len(first) == _FIRST:
                total = f"the first {total}"
            texts = "answers"
            if of_answers[language] < count:
                texts += " or texts that they are compared with"
            yield (
                f"{named('checker', checker.name)}: {count:,} of {total} {texts} are in "
                f"{_language_name(language)}; {caution}. Calibrate it on labels of your own "
                f"({named('calibrate', 'FILE')}), or use a judge of that language."
            )


def _compared_texts(
    example: Example,
    takers: Iterable[Selected],
) -> Iterator[str]:
    """What a checker reads beside the answer: passages or sources, and references, where these metrics need them."""
    needs: set[str] = set()
    for chosen in takers:
        for name in chosen.scores:
            part = chosen.part_of(name)
            needs.update(chosen.metric.needs_of(part))
    if "references" in needs:
        yield from example.references
    if "contexts" not in needs:
        return
    for source in example.sources or example.contexts:
        if source.text:
            yield source.text


def _languages(texts: Iterable[str]) -> set[str]:
    languages: set[str] = set()
    for text in texts:
        beginning = text[:_READ_OF_A_TEXT]
        if language := written_language(beginning):
            languages.add(language)
    return languages


def _language_name(code: str) -> str:
    return NAMES.get(code, _BY_SCRIPT.get(code, code))


def _sentence(chosen: Selected, count: int, read: int, model: str, option: str) -> str:
    some = (
        f"{count:,} of the first {read:,} examples"
        if read == _FIRST
        else f"{count:,} of {read:,} examples"
    )
    return (
        f"{chosen.name}: {some} need {model}, and none is named: scores that depend on it will be unscored "
        f"(missing_input). Add {option} (embedded: on this machine, without a price), or omit the metric."
    )


def _first(options: RunOptions, examples: ExampleSource) -> list[Answered]:
    return list(islice(_examples(options, examples), min(options.limit or _FIRST, _FIRST)))


def _examples(options: RunOptions, examples: ExampleSource) -> Iterator[Answered]:
    """The answers that can be read. What is wrong with a record is said by the run."""
    reading = Reading(examples, **{**options.reading, "skip_bad": True})
    for _, record in reading.records():
        if isinstance(record, Pair):
            yield from (record.side("a"), record.side("b"))
        elif isinstance(record, Example):
            yield record
