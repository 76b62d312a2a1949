import base64
import hashlib
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from tests.report.browser import after, height_on_a_phone, needs_chromium
from tests.report.runs import HOSTILE, made_up
from tests.report.test_html import ParsedPage

import longmark
from longmark.errors import UserError
from longmark.report import document
from longmark.report.charts import ForestRow, forest
from longmark.report.document import MOST_ROWS, Document, Section, write_document
from longmark.report.figures import rendered
from longmark.report.html import write_report
from longmark.report.tables import Cell, Column, Range, Table, as_csv

COLUMNS = (
    Column("System"),
    Column("Mean", places=3),
    Column("Interval", places=2, kind="extremes"),
    Column("p", kind="p"),
    Column("Scored"),
    Column("Why"),
)
ROWS = (
    ("first", 0.81649, Range(0.7, 0.9), 0.0004, 1200, None),
    ("second", None, Range(None, None), None, 0, "every answer is empty"),
)


def table(
    name: str = "means",
    title: str = "Means",
    rows: tuple[tuple[Cell, ...], ...] = ROWS,
    note: str = "",
) -> Table:
    return Table(name, title, COLUMNS, rows, note)


def page(tmp_path: Path, *sections: Section, **more) -> ParsedPage:
    fields: dict[str, Any] = {
        "kind": "comparison",
        "title": "Two systems",
        "lede": "One is ahead.",
        **more,
    }
    write_document(Document(sections=sections, **fields), tmp_path / "page.html")
    return ParsedPage(tmp_path / "page.html")


def test_the_conclusion_stands_before_the_notes_that_follow_it_at_once(tmp_path):
    """On a phone four notes filled the first screen."""
    sections = (Section("Result", "First is ahead.", (table(),)), Section("More", "Else."))
    found = page(tmp_path, *sections, notices=["Only nine questions."])
    order = ["Result", "First is ahead.", "Only nine questions.", "Means", "Else."]
    places = [found.text.rindex(words) for words in order]
    assert places == sorted(places)
    assert found.text.count("Only nine questions.") == 1
    assert "Only nine questions." in page(tmp_path, notices=["Only nine questions."]).text


def test_a_section_has_its_sentence_its_figure_its_tables_and_its_note_in_that_order(tmp_path):
    figure = forest([ForestRow("first", 0.5, 0.4, 0.6)], "A forest")
    found = page(
        tmp_path,
        Section("Ranking", "First is ahead.", (table(note="Of all."),), (figure,), "A note."),
    )
    order = [
        "Ranking",
        "First is ahead.",
        "A forest",
        "Means",
        "Of all.",
        "0.816",
        "A note.",
        "Provenance",
    ]
    places = [found.text.rindex(words) for words in order]
    assert places == sorted(places)
    assert "<title>Two systems</title>" in found.source


def test_cells_are_written_for_people(tmp_path):
    found = page(tmp_path, Section("Means", "", (table(),)))
    body = found.source.split("<tbody>")[1].split("</tbody>")[0]
    cells = [re.sub("<[^>]+>", "", cell) for cell in re.findall(r"<t[hd].*?</t[hd]>", body)]
    assert cells[:6] == ["first", "0.816", "0.70 to 0.90", "&lt;0.001", "1,200", "–"]
    assert cells[6:] == ["second", "–", "–", "–", "0", "every answer is empty"]
    numbers = [a.get("class") for tag, a in found.elements if tag in ("th", "td")]
    figures = ["number"] * 4
    assert numbers == [None, *figures, None, None, *figures, "blank", None, *figures, None]
    assert "<h3>" not in found.source, "the section’s title says it already"
    assert [a.get("scope") for tag, a in found.elements if tag == "th"] == ["col"] * 6 + ["row"] * 2


def test_a_name_may_be_broken_at_its_joints_only(tmp_path):
    found = page(tmp_path, Section("S", "", (table(rows=(("a.b_c-d 0.5 <_x>", *ROWS[0][1:]),)),)))
    assert "<bdi>a.<wbr>b_<wbr>c-<wbr>d 0.5 &lt;_x&gt;</bdi>" in found.source


def test_an_option_in_a_cell_is_not_broken(tmp_path):
    name = "add --equal-chances, or a--b-c"
    found = page(tmp_path, Section("S", "", (table(rows=((name, *ROWS[0][1:]),)),)))
    option = '<span class="option">--equal-chances</span>'
    assert f"<bdi>add {option}, or a--b-<wbr>c</bdi>" in found.source
    assert ".option { white-space: nowrap; }" in found.source


def test_tables_beyond_the_first_are_folded_where_a_figure_stands_for_them(tmp_path):
    tables = (table(), table("pairs", "Pairs"), table("wins", "Wins"))
    open_ = page(tmp_path, Section("S", "", tables))
    assert "<details>" not in open_.source
    folded = page(tmp_path, Section("S", "", tables, (forest([ForestRow("a", 1, 0, 2)], "F"),)))
    assert folded.source.count("<details>") == 2
    assert "<summary><bdi>Pairs</bdi> (2 rows)</summary>" in folded.source
    assert folded.source.count("<table") == 3


def test_a_long_table_scrolls_and_a_huge_one_says_where_the_rest_is(tmp_path):
    many = tuple((f"s{i}", i / 1000, Range(0, 1), 0.5, i, None) for i in range(MOST_ROWS + 1))
    found = page(
        tmp_path, Section("S", "", (table(rows=many[:100]), table("pairs", "Pairs", many)))
    )
    assert found.source.count('class="scroll long"') == 2
    assert found.source.count("<tr>") == 2 + 100 + MOST_ROWS
    assert (
        "The first 500 of 501 rows. All rows are in tables/pairs.csv beside this page."
        in found.text
    )
    short = page(tmp_path, Section("S", "", (table(), table("none", "None", ()))))
    assert 'class="scroll long"' not in short.source
    assert "No rows." in short.text


def test_every_section_is_in_the_contents_under_an_address_of_its_own(tmp_path):
    titles = ["Means", "Means", "Settings", HOSTILE, "متوسط", "–"]
    found = page(tmp_path, *(Section(title, "") for title in titles))
    links = [a["href"] for tag, a in found.elements if tag == "a"]
    ids = [a["id"] for tag, a in found.elements if a.get("id")]
    assert links == ["#content", *(f"#{name}" for name in ids if name != "content")]
    assert len(set(ids)) == len(ids)
    assert ids[1:4] == ["means", "means-2", "settings-2"]
    assert ids[-1] == "settings"


def test_hostile_texts_stay_texts(tmp_path):
    rows = ((HOSTILE, 0.5, Range(0, 1), 0.5, 1, HOSTILE),)
    drawn = forest(
        [ForestRow(HOSTILE, 1, 0, 2, HOSTILE), ForestRow(HOSTILE, None, None, None, HOSTILE)],
        HOSTILE,
    )
    section = Section(
        HOSTILE,
        HOSTILE,
        (table("t", HOSTILE, rows, HOSTILE), table("u", HOSTILE, rows)),
        (drawn,),
        HOSTILE,
    )
    settings = {HOSTILE: HOSTILE, "b": [HOSTILE], "c": {HOSTILE: {HOSTILE: HOSTILE}}}
    found = page(
        tmp_path,
        section,
        kind=HOSTILE,
        title=HOSTILE,
        lede=HOSTILE,
        notices=[HOSTILE],
        settings=settings,
    )
    assert HOSTILE not in found.source
    tags = [tag for tag, _ in found.elements]
    assert "img" not in tags
    assert "script" not in tags
    for tag, attributes in found.elements:
        assert not [name for name in attributes if name.startswith("on")], tag
        assert "style" not in attributes, "the policy forbids inline styles"
        for name in ("src", "href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:")), (tag, attributes)
    assert found.text.count("<img src=x onerror=") > 10, "foreign text is shown, not dropped"
    assert "\u202e" not in re.sub(
        r"<bdi>([^<]|<wbr>)*</bdi>|<code>[^<]*</code>|=\"[^\"]*\"", "", found.source
    )


def test_the_policy_lets_only_the_pages_own_style_in_and_no_script(tmp_path):
    found = page(tmp_path, Section("S", ""))
    (policy,) = [
        a["content"] for _, a in found.elements if a.get("http-equiv") == "Content-Security-Policy"
    ]
    assert policy is not None
    digest = base64.b64encode(hashlib.sha256(found.scripts["style"].encode()).digest()).decode()
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert f"style-src '{'sha256-' + digest}'" in policy
    assert "script-src" not in policy
    assert "http:" not in found.source.replace("http://www.w3.org/2000/svg", "")
    assert "https:" not in found.source


def test_settings_say_how_it_was_made(tmp_path):
    settings = {
        "Runs": ["runs/a", "runs/b"],
        "Seed": 20261122,
        "Correction": "holm",
        "Judges differ": False,
        "Hypotheses": None,
        "Models": {"judge": {"name": "m", "temperature": 0.0}},
    }
    facts = (
        page(tmp_path, settings=settings).source.split('<dl class="facts">')[1].split("</dl>")[0]
    )
    pairs = re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", facts)
    said = {
        re.sub("<[^>]+>", "", name): re.sub("<[^>]+>", " ", value).split() for name, value in pairs
    }
    assert said["Runs"] == ["runs/a", "runs/b"]
    assert said["Seed"] == ["20261122"], "a seed is copied, not read: no comma"
    assert said["Judges differ"] == ["no"]
    assert said["Hypotheses"] == ["none"]
    assert said["Models"] == ["judge.name", "m", "judge.temperature", "0.0"]
    assert said["longmark"] == [longmark.__version__]


def test_the_same_document_gives_the_same_bytes(tmp_path):
    first = page(tmp_path, Section("S", "s", (table(),), (forest([ForestRow("a", 1, 0, 2)], "F"),)))
    assert (
        page(
            tmp_path, Section("S", "s", (table(),), (forest([ForestRow("a", 1, 0, 2)], "F"),))
        ).source
        == first.source
    )


def test_a_page_replaces_a_page_of_longmark_and_nothing_else(tmp_path):
    write_report([made_up(tmp_path / "run", 3)], tmp_path / "page.html")
    assert "Two systems" in page(tmp_path).text
    (tmp_path / "mine.html").write_text("<!doctype html><title>mine</title>")
    document = Document("comparison", "Two systems", "", ())
    for name, why in (
        ("mine.html", "is not a longmark report; give another --out, or move the file"),
        ("page.txt", "does not end in .html"),
        ("run", "is a folder"),
        ("mine.html/page.html", "give another --out"),
    ):
        with pytest.raises(UserError, match=re.escape(why)):
            write_document(document, tmp_path / name)
    assert (tmp_path / "mine.html").read_text() == "<!doctype html><title>mine</title>"
    write_document(document, tmp_path / "new" / "folder" / "page.html")


def test_a_document_without_anything_is_a_page(tmp_path):
    found = page(tmp_path, title="", lede="", kind="")
    assert "Provenance" in found.text


def test_cells_carry_their_labels_and_long_texts_are_set_as_sentences(tmp_path):
    columns = (Column("System"), Column("Mean <b>", places=2), Column("Finding"), Column("Why"))
    said = "first has the best mean, and no other system can be told apart from it"
    rows = (("first", 0.5, said, None), ("second", 0.4, said, "unread"))
    found = page(tmp_path, Section("S", "", (Table("t", "T", columns, rows),)))
    assert (
        '<th scope="row"><bdi>first</bdi></th><td class="number" data-label="Mean &lt;b&gt;">0.50</td>'
        in found.source
    )
    assert f'<td class="words" data-label="Finding"><bdi>{said}</bdi></td>' in found.source
    assert '<td class="blank" data-label="Why">–</td>' in found.source
    assert '<table class="figures cards">' in found.source
    assert (
        'data-label="Why"'
        not in page(tmp_path, Section("S", "", (Table("t", "T", columns, rows[:1]),))).source
    )
    small = Table("t", "T", columns[:2], (("first", 0.5),))
    assert '<table class="figures">' in page(tmp_path, Section("S", "", (small,))).source


@needs_chromium
def test_on_a_phone_every_cell_of_a_broad_table_is_in_sight_and_on_a_desktop_it_scrolls(tmp_path):
    long = "a_name_of_a_system_that_goes_on_and_on_and_on_without_any_place_to_break_it_at_all"
    rows = ((long, 0.5, Range(0, 1), 0.5, 1, "a reason in many words " * 10),)
    many = Table(
        "many", "Many", tuple(Column(f"column_{i}") for i in range(30)), (tuple(range(30)),)
    )
    tables = (table(rows=rows), many)
    page(
        tmp_path,
        Section(long, long, tables, note=long),
        title=long,
        lede=long,
        settings={long: [long]},
    )
    script = """
    const found = [];
    document.querySelectorAll("script").forEach(e => e.remove());
    const source = document.documentElement.outerHTML;
    function look(frame, width) {
      const page = frame.contentDocument;
      const beyond = [...page.querySelectorAll("body *")].filter(
        e => !e.closest(".skip") && !e.closest("thead") && e.getBoundingClientRect().right > width + 1);
      const frames = [...page.querySelectorAll(".scroll")].map(e => e.scrollWidth > e.clientWidth);
      found.push(`${width}: ${beyond.filter(e => !e.closest(".scroll")).length} ${beyond.length} ${frames}`);
      if (width < 400) found.push(getComputedStyle(page.querySelector("td[data-label='p']"), "::before").content);
    }
    function show(widths) {
      if (!widths.length) {
        document.body.innerHTML = `<pre id="found">${found.join("; ")}</pre>`;
        return;
      }
      const frame = document.createElement("iframe");
      frame.style.cssText = `width: ${widths[0]}px; height: 900px; border: 0`;
      frame.srcdoc = source;
      frame.onload = () => { look(frame, widths[0]); show(widths.slice(1)); };
      document.body.append(frame);
    }
    show([390, 1280]);
    """
    dom = after(tmp_path / "page.html", script)
    match = re.search(r'<pre id="found">(.*?)</pre>', dom)
    assert match is not None
    phone, label, desktop = match[1].split("; ")
    assert phone == "390: 0 0 false,false"
    assert re.fullmatch(r"1280: 0 [1-9]\d* (true|false),true", desktop), desktop
    assert label == '"p"'


def test_many_sections_of_a_kind_have_one_link_and_a_table_in_a_frame_says_how_many_rows_it_has(
    tmp_path,
):
    rows = [(f"system {i}", 0.5) for i in range(30)]
    long = Table("t", "T", (Column("system"), Column("mean")), rows)
    spreads = [Section(f"Distribution: {i}", "") for i in range(25)]
    shown = page(tmp_path, Section("Bounds", "", (long,)), *spreads, Section("Costs", ""))
    links = shown.source.partition("<nav")[2].partition("</nav>")[0]
    assert re.findall(r'href="#([^"]+)"><bdi>([^<]+)', links) == [
        ("bounds", "Bounds"),
        ("distribution-0", "Distribution (25)"),
        ("costs", "Costs"),
        ("settings", "Provenance"),
    ]
    assert "30 rows. The frame scrolls." in shown.source


@needs_chromium
@pytest.mark.parametrize(
    ("sections", "rows", "columns", "figures"), [(9, 20, 9, 0), (3, 60, 12, 9), (12, 3, 3, 2)]
)
def test_a_page_on_a_phone_is_short_until_it_is_unfolded_whatever_stands_on_it(
    tmp_path: Path,
    sections: int,
    rows: int,
    columns: int,
    figures: int,
    monkeypatch: pytest.MonkeyPatch,
):
    heads = tuple(Column(f"column {i}") for i in range(columns))
    cells = [tuple(f"a few words {i}" for i in range(columns)) for _ in range(rows)]
    lanes = [ForestRow(f"lane {i}", i, i - 1, i + 1) for i in range(30)]
    drawn = [forest(lanes, "Figure")] * figures
    once = cache(rendered)  # they are all alike
    monkeypatch.setattr(document, "rendered", lambda figure, salt: once(figure))
    parts = [
        Section(
            f"S{i}",
            "What it shows. " * 9,
            [Table(f"t{i}{j}", f"T{j}", heads, cells) for j in (0, 1)],
            drawn,
        )
        for i in range(sections)
    ]
    shown = page(tmp_path, *parts, notices=["A notice of some length. " * 12] * 4)
    assert 1_000 < height_on_a_phone(tmp_path / "page.html") < 8_000
    assert shown.source.count("<table") == 2 * sections, "folded, not left out"


@needs_chromium
def test_a_broad_table_takes_the_page_and_a_broader_one_shows_where_it_is_cut_off(tmp_path):
    names = [f"family_{i}.metric_{i}" for i in range(30)]
    tables = [
        Table(f"t{n}", f"T{n}", tuple(map(Column, names[:n])), (tuple(names[:n]),)) for n in (8, 30)
    ]
    page(tmp_path, Section("S", "", tables))
    measure = """const boxes = [...document.querySelectorAll(".scroll")];
    const cues = boxes.map((box) => getComputedStyle(box).backgroundAttachment.includes("local"));
    const cut = boxes.map((box) => box.scrollWidth > box.clientWidth);
    document.body.innerHTML = `<p>broad: ${boxes[0].clientWidth > 1100}, cut: ${cut}, cues: ${cues}`;"""
    found = after(tmp_path / "page.html", measure)
    assert "<p>broad: true, cut: false,true, cues: true,true" in found


def test_a_column_of_metrics_shows_their_names_in_words_on_the_page(tmp_path: Path):
    names = ["ccrs.question_relevance", "always the longer answer"]
    table = Table("t", "Metrics", (Column("metric", kind="metric"),), [(name,) for name in names])
    head = Column(
        "ccrs.answer_coverage", places=2, key="ccrs.answer_coverage", words="Answer coverage"
    )
    of_systems = Table("systems", "Systems", (Column("system"), head), [("a", 0.5)])
    write_document(
        Document("test", "Title", "", [Section("Part", "", (table, of_systems))]),
        tmp_path / "page.html",
    )
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<bdi>Answer coverage</bdi> <code>ccrs.<wbr>answer_<wbr>coverage</code></th>" in page
    assert as_csv(of_systems).startswith("system,ccrs.answer_coverage\n")
    assert "<bdi>Question relevance</bdi> <code>ccrs.<wbr>question_<wbr>relevance</code>" in page
    assert "<bdi>always the longer answer</bdi></th>" in page


def test_a_figure_and_its_per_cent_sign_stay_on_one_line(tmp_path: Path):
    section = Section("Result", "It changes its choice in 42 % of the pairs [20 %, 66 %]; % alone.")
    write_document(Document("audit", "Audit", "", (section,)), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "42\u00a0% of the pairs [20\u00a0%, 66\u00a0%]; % alone" in page
