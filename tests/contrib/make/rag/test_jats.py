"""Articles in JATS and records of PubMed: what is kept, what is left out and counted. The articles are made up."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.there import there

from longmark.contrib.make.rag import jats
from longmark.contrib.make.rag.documents import Documents, SourceDocument, Unread
from longmark.errors import UserError

DOCTYPE = (
    '<!DOCTYPE article PUBLIC "-//NLM//DTD JATS (Z39.96) Journal Archiving DTD v1.2//EN" "a.dtd">'
)
ARTICLE = """
<article xmlns:mml="http://www.w3.org/1998/Math/MathML" xmlns:xlink="http://www.w3.org/1999/xlink">
<front><journal-meta><journal-title>Journal</journal-title></journal-meta><article-meta>
<article-id pub-id-type="doi">10.1/x</article-id><article-id pub-id-type="pmc">PMC42</article-id>
<title-group><article-title>Dams &amp; <italic>rivers</italic></article-title></title-group>
<contrib-group><contrib><name><surname>Doe</surname></name></contrib></contrib-group>
<abstract><title>Abstract</title><p>A dam held<xref ref-type="bibr" rid="r1"><sup>1</sup></xref>.</p></abstract>
</article-meta></front><body>
<sec><label>1</label><title>Methods</title>
<p>We pumped 10<sup>6</sup> m<sup>3</sup> of H<sub>2</sub>O.<fn><label>*</label><p>By night.</p></fn></p>
<sec><title>Flow</title><p>It is <inline-formula><alternatives><tex-math>no</tex-math><mml:math><mml:mfrac><mml:mrow>
<mml:mi>a</mml:mi><mml:mo>+</mml:mo><mml:mi>b</mml:mi></mml:mrow><mml:mn>2</mml:mn></mml:mfrac></mml:math>
</alternatives></inline-formula> here.</p></sec>
<table-wrap><label>Table 1</label><caption><title>Heights</title><p>In metres.</p></caption>
<table><thead><tr><th>dam</th><th>m</th></tr></thead><tbody><tr><td>Elm</td><td>12</td></tr></tbody></table>
<table-wrap-foot><fn><label>a</label><p>Measured.</p></fn></table-wrap-foot></table-wrap>
<fig><label>Figure 1</label><caption><p>The dam.</p></caption><graphic xlink:href="x"/></fig>
<list><list-item><label>i</label><p>first</p></list-item><list-item><p>second</p></list-item></list>
<disp-formula><tex-math>\\documentclass{a}\\begin{document}$$x^2$$\\end{document}</tex-math></disp-formula>
<p><ruby><rb>雨</rb><rt>あめ</rt></ruby> <strike>no</strike></p>
</sec></body><back><ack><title>Thanks</title><p>To all.</p></ack><ref-list><title>References</title>
<ref id="r1"><mixed-citation>Roe, 1990</mixed-citation></ref><ref id="r2"><mixed-citation>Poe</mixed-citation></ref>
</ref-list></back><sub-article><body><p>Review.</p></body></sub-article></article>
"""
TEXT = [
    "Dams & rivers",
    "Doe",
    "Abstract",
    "A dam held[1].",
    "1 Methods",
    "We pumped 10⁶ m³ of H₂O.",
    "* By night.",
    "Flow",
    "It is (a+b)/2 here.",
    "Table 1",
    "Heights",
    "In metres.",
    "dam | m",
    "Elm | 12",
    "a Measured.",
    "Figure 1",
    "The dam.",
    "i first",
    "second",
    "x^2",
    "雨",
    "Thanks",
    "To all.",
]
RECORDS = """<?xml version="1.0"?><PubmedArticleSet>
<PubmedArticle><MedlineCitation><PMID Version="1">7</PMID><Article><ArticleTitle>On levees.</ArticleTitle><Abstract>
<AbstractText Label="METHODS">We <i>looked</i>.</AbstractText>
<AbstractText Label="RESULTS">CO<sub>2</sub> fell.</AbstractText>
</Abstract></Article></MedlineCitation></PubmedArticle>
<PubmedArticle><MedlineCitation><PMID>8</PMID><Article><ArticleTitle>Short.</ArticleTitle></Article></MedlineCitation>
</PubmedArticle></PubmedArticleSet>"""


def read(path: Path) -> list[SourceDocument | Unread]:
    return list(Documents(path))


def test_an_article_is_read_as_its_reader_sees_it(tmp_path: Path) -> None:
    path = tmp_path / "article.nxml"
    path.write_text(DOCTYPE + ARTICLE, encoding="utf-8")
    documents = Documents(path)
    (document,) = documents
    assert isinstance(document, SourceDocument)
    assert document.id == "article.nxml"
    assert document.text.split("\n\n") == TEXT
    headings = [words for _, words in document.headings]
    assert headings == ["Dams & rivers", "Abstract", "1 Methods", "Thanks"]
    assert all(document.text[at:].startswith(words) for at, words in document.headings)
    assert documents.omitted == {
        "references": 2,
        "pictures": 1,
        "passages that are struck out": 1,
        "reviews and letters with the article": 1,
    }
    assert "Left out of what was read: 2 references, " in there(documents.left_out())


def test_a_file_of_records_is_a_document_for_each(tmp_path: Path) -> None:
    path = tmp_path / "pubmed.xml"
    path.write_text(RECORDS)
    first, second = read(path)
    assert isinstance(first, SourceDocument)
    assert isinstance(second, SourceDocument)
    assert first.id == "pubmed.xml:7"
    assert first.text == "On levees.\n\nMethods\n\nWe looked.\n\nResults\n\nCO₂ fell."
    assert (second.id, second.text) == ("pubmed.xml:8", "Short.")


def test_a_set_of_articles_names_each_by_its_number(tmp_path: Path) -> None:
    plain = "<article><body><p>No number.</p></body></article>"
    (tmp_path / "set.xml").write_text(f"<pmc-articleset>{ARTICLE}{plain}</pmc-articleset>", "utf-8")
    first, second = read(tmp_path)
    assert isinstance(first, SourceDocument)
    assert (first.id, first.text.split("\n\n")) == ("set.xml:PMC42", TEXT)
    assert second == SourceDocument("set.xml:2", "No number.")


def test_other_xml_in_a_folder_is_counted_and_alone_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Text.")
    other = tmp_path / "feed.xml"
    other.write_text("<rss><channel/></rss>")
    documents = Documents(tmp_path)
    assert [type(document) for document in documents] == [SourceDocument]
    assert documents.other == {".xml (rss)": 1}
    (unread,) = read(other)
    assert "is XML with the root rss; articles in JATS" in str(unread)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "cannot be read as XML"),
        (b"<article><body><p>never closed", "cannot be read as XML"),
        (b"PK\x03\x04", "cannot be read as XML"),
        (b"<article/>", "is empty"),
        (b"<PubmedArticleSet/>", "has no article"),
        (b"<pmc-articleset/>", "has no article"),
        ("<article><body><p>é".encode("latin-1"), "cannot be read as XML"),
    ],
)
def test_a_broken_file_is_a_line_with_its_reason(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    path = tmp_path / "x.nxml"
    path.write_bytes(content)
    (unread,) = read(path)
    assert isinstance(unread, Unread)
    assert reason in unread.why


def test_characters_by_name_are_read_and_files_that_entities_name_are_not(tmp_path: Path) -> None:
    (tmp_path / "other.txt").write_text("of another file")
    named = f'<!ENTITY other SYSTEM "{tmp_path}/other.txt"><!ENTITY own "own">'
    for doctype, body, text in (
        (DOCTYPE, "5&nbsp;km &eacute;", "5 km é"),
        (f"<!DOCTYPE article [{named}]>", "5 &other;&own;km", "5 km"),
    ):
        path = tmp_path / "x.nxml"
        path.write_text(f"{doctype}<article><body><p>{body}</p></body></article>")
        (document,) = read(path)
        assert isinstance(document, SourceDocument)
        assert document.text == text


def test_other_encodings_and_directions_are_read(tmp_path: Path) -> None:
    body = "<article><body><p>ارتفع النهر ١٢ مترًا</p></body></article>"
    path = tmp_path / "x.nxml"
    path.write_bytes(f'<?xml version="1.0" encoding="utf-16"?>{body}'.encode("utf-16"))
    (document,) = read(path)
    assert isinstance(document, SourceDocument)
    assert document.text == "ارتفع النهر ١٢ مترًا"


def test_deep_and_wide_files_are_refused_in_words() -> None:
    deep = b"<article><body>" + b"<sec>" * 400 + b"</sec>" * 400 + b"</body></article>"
    with pytest.raises(ValueError, match="cannot be read as XML"):
        jats.root_of(deep)
    with pytest.raises(ValueError, match="has 1,500,003 tags, more than"):
        jats.root_of(b"<article>" + b"<p/>" * 1_500_001 + b"</article>")


def test_a_folder_without_anything_to_read_says_so(tmp_path: Path) -> None:
    (tmp_path / "a.rtf").write_bytes(b"x")
    with pytest.raises(UserError, match="has no documents"):
        read(tmp_path)


def test_a_row_of_a_table_has_each_cell_that_spans_into_it(tmp_path: Path) -> None:
    table = (
        '<table><thead><tr><th rowspan="2">Dam</th><th colspan="2">Height</th></tr>'
        "<tr><th>m</th><th>ft</th></tr></thead>"
        '<tbody><tr><td rowspan="2">Elm</td><td>12</td><td>39</td></tr>'
        "<tr><td>13</td><td>43</td></tr></tbody></table>"
    )
    path = tmp_path / "a.nxml"
    path.write_text(f"<article><body><sec><table-wrap>{table}</table-wrap></sec></body></article>")
    (article,) = Documents(path)
    assert isinstance(article, SourceDocument)
    assert article.text.split("\n\n") == [
        "Dam | Height | Height",
        "Dam | m | ft",
        "Elm | 12 | 39",
        "Elm | 13 | 43",
    ]


FRONT = """<article><front><article-meta><title-group><article-title>Dams</article-title>
<subtitle>In 12 parts</subtitle><trans-title-group><trans-title>Barrages</trans-title></trans-title-group>
</title-group><contrib-group><contrib><name><surname>Doe</surname><given-names>Jane</given-names></name>
<aff>Elm</aff></contrib><contrib><collab>Dam Group</collab></contrib></contrib-group>
<author-notes><fn><label>*</label><p>Paid by 7.</p></fn></author-notes>
<abstract><p>Short.</p></abstract><kwd-group><kwd>rain</kwd><kwd>CO<sub>2</sub></kwd></kwd-group>
<funding-group><funding-statement>Grant 8.</funding-statement></funding-group></article-meta>
<notes><p>Data are free.</p></notes></front><body>{}</body></article>"""


def read_article(tmp_path: Path, body: str) -> tuple[list[str], dict[str, int]]:
    path = tmp_path / "a.nxml"
    path.write_text(FRONT.format(body))
    documents = Documents(path)
    (article,) = documents
    assert isinstance(article, SourceDocument)
    return article.text.split("\n\n"), dict(documents.omitted)


def test_what_stands_before_the_text_of_an_article_is_read(tmp_path: Path) -> None:
    texts, omitted = read_article(tmp_path, "<p>Text.</p>")
    assert texts == [
        *("Dams", "In 12 parts", "Barrages", "Jane Doe, Dam Group", "* Paid by 7.", "Short."),
        *("rain, CO2", "Grant 8.", "Data are free.", "Text."),
    ]
    assert omitted == {"affiliations of authors": 1}


def test_tables_in_the_form_of_oasis_and_lists_with_numbers_are_read(tmp_path: Path) -> None:
    table = (
        '<table-wrap><oasis:table xmlns:oasis="urn:o"><oasis:tgroup><oasis:colspec colname="a"/>'
        '<oasis:colspec colname="b"/><oasis:tbody><oasis:row>'
        '<oasis:entry namest="a" nameend="b">Height</oasis:entry></oasis:row><oasis:row>'
        '<oasis:entry morerows="1">Elm</oasis:entry><oasis:entry>12</oasis:entry></oasis:row>'
        "<oasis:row><oasis:entry>13</oasis:entry></oasis:row></oasis:tbody></oasis:tgroup>"
        "</oasis:table></table-wrap>"
    )
    lists = (
        '<list list-type="alpha-lower"><list-item><p>x</p></list-item><list-item><p>y</p></list-item>'
        '</list><list list-type="order"><list-item><label>3.</label><p>z</p></list-item></list>'
    )
    texts, _ = read_article(tmp_path, table + lists)
    assert texts[-6:] == ["Height", "Elm | 12", "Elm | 13", "a. x", "b. y", "3. z"]
