"""Pages of Wikipedia, arXiv and PubMed Central: what is their article, and what is the page around it. The texts are made
up, in the markup of MediaWiki, LaTeXML and PMC."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzz.engine import limited

from longmark.contrib.make.rag.documents import Documents, SourceDocument
from longmark.contrib.make.rag.markup import html_text

EDIT = (
    '<span class="mw-editsection"><span class="mw-editsection-bracket">[</span>'
    '<a href="/w/index.php?action=edit">edit</a><span class="mw-editsection-bracket">]</span></span>'
)


def mark(label: str) -> str:
    return (
        f'<sup id="r" class="reference"><a href="#cite_note-1"><span>[</span>{label}<span>]</span></a>'
        "</sup>"
    )


WIKIPEDIA = f"""<!DOCTYPE html><html class="client-nojs vector-toc-available"><head><title>Dam</title></head>
<body class="skin--responsive skin-vector mediawiki ltr sitedir-ltr ns-0">
<a class="mw-jump-link" href="#bodyContent">Jump to content</a>
<div class="vector-header-container"><header>Search Wikipedia</header></div>
<p>Donate</p>
<main id="content" class="mw-body"><header class="mw-body-header"><h1 id="firstHeading">Dam</h1>
<div id="p-lang-btn" class="vector-dropdown"><label>62 languages</label></div></header>
<div class="vector-page-toolbar">Article Talk</div>
<div id="bodyContent"><div id="siteSub" class="noprint">From Wikipedia</div>
<div class="mw-content-ltr mw-parser-output" lang="en">
<div class="shortdescription nomobile noexcerpt noprint searchaux" style="display:none">Barrier</div>
<div role="note" class="hatnote navigation-not-searchable">For other uses, see Dam (word).</div>
<table class="box-More_citations plainlinks metadata ambox"><tr><td>Needs</td><td>citations</td></tr></table>
<table class="infobox"><tbody><tr><th>Height</th><td>12 m</td></tr></tbody></table>
<table class="sidebar nomobile"><tr><td>Water</td><td>Series</td></tr></table>
<p>A <b>dam</b> stops water.{mark("1")}{mark("12")} It is old.{mark("a")} It weighs
<span class="mwe-math-element"><span class="mwe-math-mathml-inline mwe-math-mathml-a11y" style="display: none;">
<math alttext="x"><semantics><msup><mi>x</mi><mn>2</mn></msup>
<annotation encoding="application/x-tex">{{\\displaystyle x^2}}</annotation></semantics></math></span>
<img class="mwe-math-fallback-image-inline" alt="x^2"></span>.</p>
<div class="mw-heading mw-heading2"><h2 id="Types">Types</h2>{EDIT}</div>
<p>Some are <span style="display:none">&#91;sort key&#93;</span>large.</p>
<div class="mw-heading"><h2>Notes</h2>{EDIT}</div>
<div class="reflist reflist-lower-alpha"><div class="mw-references-wrap">
<ol class="references" data-mw-group="lower-alpha"><li><span class="mw-cite-backlink"><b><a>^</a></b></span>
<span class="reference-text">By some 4,000 years.</span></li></ol></div></div>
<div class="reflist"><ol class="references"><li><span class="mw-cite-backlink">^</span> Roe 1990.</li>
<li>Poe 1991.</li></ol></div>
<div class="navbox-styles"></div><div role="navigation" class="navbox"><table><tr><td>v t e</td></tr></table></div>
</div><div class="printfooter">Retrieved from</div></div>
<div id="catlinks" class="catlinks">Categories: Dams</div></main>
<div class="mw-footer-container"><footer id="footer">Last edited in 2026.</footer></div></body></html>"""

ARXIV = """<!DOCTYPE html><html lang="en"><head><title>Dams</title></head><body>
<nav class="ltx_page_navbar">Contents</nav><header class="desktop_header"><p>Report an issue</p></header>
<div class="package-alerts ltx_document">Failed to load: tikz</div>
<div class="ltx_page_main"><div class="ltx_page_content"><article class="ltx_document ltx_authors_1line">
<h1 class="ltx_title ltx_title_document">Dams</h1>
<section class="ltx_section">
<h2 class="ltx_title ltx_title_section"><span class="ltx_tag ltx_tag_section">1 </span>Rain</h2>
<div class="ltx_para"><p class="ltx_p">As <cite class="ltx_cite ltx_citemacro_cite">[<a class="ltx_ref">1</a>]</cite>
says<span class="ltx_note ltx_role_footnote"><sup class="ltx_note_mark">1</sup><span class="ltx_note_outer">
<span class="ltx_note_content"><sup class="ltx_note_mark">1</sup><span class="ltx_tag ltx_tag_note">1</span>By
night.</span></span></span>, <math alttext="x^{2}" class="ltx_Math" display="inline"><semantics><msup><mi>x</mi>
<mn>2</mn></msup><annotation-xml encoding="MathML-Content"><apply><ci>x</ci></apply></annotation-xml>
<annotation encoding="application/x-tex">x^{2}</annotation></semantics></math> holds
<span class="ltx_ERROR undefined">\\foo</span>:</p>
<table class="ltx_equation ltx_eqn_table"><tbody><tr class="ltx_equation ltx_eqn_row ltx_align_baseline">
<td class="ltx_eqn_cell ltx_eqn_center_padleft"></td>
<td class="ltx_eqn_cell ltx_align_center"><math class="ltx_Math" display="block"><mi>E</mi><mo>=</mo><mi>m</mi></math></td>
<td class="ltx_eqn_cell ltx_eqn_center_padright"></td>
<td class="ltx_eqn_cell ltx_eqn_eqno"><span class="ltx_tag ltx_tag_equation">(1)</span></td></tr></tbody></table>
<table class="ltx_tabular"><tr class="ltx_tr"><td class="ltx_td">Elm</td><td class="ltx_td">12</td></tr></table>
</div></section>
<section class="ltx_bibliography"><h2>References</h2><ul class="ltx_biblist"><li class="ltx_bibitem">Roe.</li>
<li class="ltx_bibitem">Poe.</li></ul></section></article></div>
<footer class="ltx_page_footer">Generated by LaTeXML</footer></div><p>Instructions for reporting errors</p></body></html>"""

PMC = """<!DOCTYPE html><html lang="en"><body><section class="usa-banner"><p>An official website</p></section>
<header class="ncbi-header">NIH</header><div class="pmc-sidenav">On this page</div><main id="main-content">
<section class="pmc-article-section pmc-article-section--article-journal"><div class="pmc-actions-bar">PDF</div>
<div class="pmc-layout__disclaimer">As a library, NLM provides access.</div>
<article lang="en"><section class="front-matter"><hgroup><h1>Dams</h1></hgroup></section>
<section class="body main-article-body"><section class="abstract"><h2>Abstract</h2><p>A dam held<sup>[<a class="usa-link"
href="#B1">1</a>]</sup>.</p></section>
<section><h2 class="pmc_sec_title">Results</h2><table><thead><tr><th rowspan="2">Dam</th><th colspan="2">Height</th></tr>
<tr><th>m</th><th>ft</th></tr></thead><tbody><tr><td>Elm</td><td>12</td><td>39</td></tr></tbody></table></section>
<section id="ref-list1" class="ref-list"><h2>References</h2><ul class="ref-list font-sm"><li id="B1"><cite>Roe</cite>
</li><li>Poe</li></ul></section></section></article></section></main>
<footer class="ncbi-footer">Follow NCBI</footer></body></html>"""

NOT_ARTICLE = "parts of the page that are not its article"
READ = {
    "Wikipedia": (
        WIKIPEDIA,
        [
            "Dam",
            "Height | 12 m",
            "A dam stops water. It is old.[a] It weighs x² .",
            "Types",
            "Some are large.",
            "Notes",
            "a. By some 4,000 years.",
        ],
        {
            NOT_ARTICLE: 15,
            "edit links": 2,
            "hidden elements": 1,
            "numerals of references": 2,
            "references": 2,
        },
    ),
    "arXiv": (
        ARXIV,
        [
            "Dams",
            "1 Rain",
            "As [1] says[1], x² holds :",
            "E = m (1)",
            "Elm | 12",
            "[1] By night.",
        ],
        {NOT_ARTICLE: 1, "commands that LaTeXML did not know": 1, "references": 2},
    ),
    "PubMed Central": (
        PMC,
        [
            "Dams",
            "Abstract",
            "A dam held[1].",
            "Results",
            "Dam | Height | Height",
            "Dam | m | ft",
            "Elm | 12 | 39",
        ],
        {NOT_ARTICLE: 5, "references": 2},
    ),
}


@pytest.mark.parametrize("maker", READ)
def test_a_page_is_its_article_and_the_rest_is_counted(tmp_path: Path, maker: str) -> None:
    page, paragraphs, left_out = READ[maker]
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    documents = Documents(tmp_path)
    (article,) = documents
    assert isinstance(article, SourceDocument)
    assert article.text.split("\n\n") == paragraphs
    assert dict(documents.omitted) == left_out


PARTS = {
    "a part of Wikipedia without its page": (
        f'<div class="mw-parser-output"><p>Rain.{mark("3")}</p><div class="navbox">v</div></div>',
        "Rain.",
    ),
    "a class of Wikipedia elsewhere": ('<p class="toc">Rain</p><sup class="reference">2</sup>', 2),
    "KaTeX": (
        '<p>so <span class="katex"><span class="katex-mathml"><math><mi>x</mi></math></span>'
        '<span class="katex-html" aria-hidden="true">x</span></span></p>',
        "so x",
    ),
    "hidden": ("<p>a<span hidden>b</span><i style='color:red; DISPLAY : None'>c</i>d</p>", "ad"),
    "found when sought": ("<p>a</p><p hidden=until-found>b</p>", "a\n\nb"),
    "never ended": ("<p>a</p><div class=navbox><p>b", "a"),
    "an article in an article": (
        "<p>x<article class=ltx_document><p>a<article class=ltx_document><p>b</article></article>c",
        "a\n\nb",
    ),
    "a note that holds a paragraph": (
        "<span class=ltx_note_outer><p>a</p></span><span class=ltx_note_outer>b</span>c",
        "a\n\nc\n\nb",
    ),
}


@pytest.mark.parametrize("case", PARTS)
def test_parts_of_pages(case: str) -> None:
    page, text = PARTS[case]
    read = html_text(page.encode()).text
    assert len(read.split("\n\n")) == text if isinstance(text, int) else read == text


@pytest.mark.parametrize(
    "piece",
    [
        "<sup class='mw-parser-output reference'>1",
        "<span class=ltx_note_outer>a",
        "<tr class=ltx_equation><td>",
        "<p hidden>",
        "<article class=ltx_document>",
        "<i class=ref-list><li>",
    ],
)
def test_the_time_of_reading_a_page_of_such_parts_grows_with_its_length(piece: str) -> None:
    with limited():
        html_text((piece * (200_000 // len(piece))).encode())
