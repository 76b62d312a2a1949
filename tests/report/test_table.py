import csv
import io

from rich.console import Console
from tests.report.runs import EASE, RELEVANCE, manifest, row, write_run

from longmark.report.summary import as_csv, reasons_in_words, score_table, summarise
from longmark.report.tables import as_markdown, as_text, print_table


def summary(tmp_path, system="first"):
    rows = [
        row(str(i), RELEVANCE, value, system=system)
        for i, value in enumerate([0.5, 0.6, 0.7, 0.8, 0.9])
    ]
    rows += [
        row("9", RELEVANCE, None, system=system, reason="The reply\nheld \x1b[31m no | number.")
    ]
    rows += [row("9", EASE, 61.25, system=system)]
    return summarise([write_run(tmp_path / "run", [], rows, manifest())])


def test_plain_text_has_one_line_for_each_metric_and_system(tmp_path):
    head, relevance, ease = as_text(score_table(summary(tmp_path))).splitlines()
    assert "95 % CI (Hall's t)" in head
    assert relevance.split("  ")[0] == RELEVANCE
    # the interval is the one worked in test_summary
    for text in [
        "first",
        "0.700",
        "[0.504, 0.896]",
        "5 / 6",
        "1 unparsable (The reply held [31m no | number)",
    ]:
        assert text in relevance
    assert ease.split() == [EASE, "first", "61.2", "–", "1", "/", "1"]
    assert head.index("system") == relevance.index("first")


def test_the_reason_of_some_rows_is_not_shown_as_that_of_all(tmp_path):
    reasons = ["Quota.", "Quota.", "Timeout."]
    rows = [
        row(f"e{i}", RELEVANCE, None, status="model_error", reason=r) for i, r in enumerate(reasons)
    ]
    rows += [
        row(f"u{i}", RELEVANCE, None, reason=r) for i, r in enumerate(["Prose.", "No number."])
    ]
    rows += [row("r", RELEVANCE, None, status="refused", reason="It declined.")]
    (cell,) = summarise([write_run(tmp_path / "run", [], rows, manifest())]).cells
    assert reasons_in_words(cell.unscored) == (
        "3 model_error (mostly: Quota); 2 unparsable (among others: No number); 1 refused (It declined)"
    )


def test_a_pipe_gets_the_plain_text(tmp_path):
    out = io.StringIO()
    print_table(score_table(summary(tmp_path)), Console(file=out, width=40))
    assert out.getvalue() == as_text(score_table(summary(tmp_path / "again")))


def test_a_terminal_cuts_no_name_however_narrow_it_is(tmp_path):
    name = "a-system-with-a-name-that-is-longer-than-the-terminal-is-wide"
    for width in (30, 60, 200):
        out = io.StringIO()
        print_table(
            score_table(summary(tmp_path / str(width), name)),
            Console(file=out, width=width, force_terminal=True),
        )
        assert RELEVANCE in out.getvalue()
        assert name in out.getvalue()
        assert "[0.504, 0.896]" in out.getvalue()
        assert "\x1b[31m" not in out.getvalue()


def test_markdown_escapes_what_would_break_the_table(tmp_path):
    lines = as_markdown(score_table(summary(tmp_path, "a|b"))).splitlines()
    assert len(lines) == 4
    assert "a\\|b" in lines[2]
    assert "no \\| number" in lines[2]
    assert lines[1].count("|") == 7


def test_csv_holds_the_unrounded_figures(tmp_path):
    relevance, ease = csv.DictReader(io.StringIO(as_csv(summary(tmp_path))))
    assert float(relevance["mean"]) == summary(tmp_path / "again").cells[0].mean
    assert (relevance["scored"], relevance["total"]) == ("5", "6")
    assert (ease["ci_lower"], ease["ci_upper"], ease["unscored"]) == ("", "", "")


def test_equal_scores_are_marked_in_the_column_of_intervals(tmp_path):
    rows = [row(f"t{i}", RELEVANCE, i / 4, system="several") for i in range(3)]
    rows += [row(f"e{i}", RELEVANCE, 1.0, system="alike") for i in range(3)]
    found = summarise([write_run(tmp_path / "run", [], rows, manifest())])
    head, several, alike = as_text(score_table(found)).splitlines()
    assert "95 % CI (Hall's t)" in head
    assert "(all equal)" not in several
    assert "[0.292, 1.000] (all equal)" in alike  # .025^(1/3) = 0.2924
    methods = [line["ci_method"] for line in csv.DictReader(io.StringIO(as_csv(found)))]
    assert methods == ["Hall's t", "all equal"]
