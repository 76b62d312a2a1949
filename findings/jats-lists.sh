#!/usr/bin/env bash
# jats 0.2.2 (parse_jats_xml, convert_to_markdown), an article in JATS XML as publishers deposit it.
# A list in a section is left out, and so is a displayed formula given as TeX; the paragraph behind them is there. Raised and lowered digits
# are joined to the words: 10<sup>6</sup> m<sup>3</sup> is "106 m3", a raised citation "m3.1", and a footnote stands within its sentence.
# An expert would guess "- First", a formula between dollars, and 10^6^ or 10<sup>6</sup>.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check jats==0.2.2
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from importlib.metadata import version
from pathlib import Path

from jats import convert_to_markdown, parse_jats_xml

Path("article.xml").write_text(
    "<article><front><article-meta><title-group><article-title>Loads</article-title></title-group></article-meta></front>"
    "<body><sec><title>Results</title><p>It held 10<sup>6</sup> m<sup>3</sup>."
    '<sup><xref ref-type="bibr" rid="r1">1</xref></sup> Then it grew<fn id="f1"><p>By 5 a day.</p></fn> fast.</p>'
    '<list list-type="order"><list-item><p>First step</p></list-item><list-item><p>Second step</p></list-item></list>'
    '<disp-formula id="e1"><tex-math>E = mc^2</tex-math></disp-formula><p>The end.</p></sec></body></article>'
)
text = convert_to_markdown(parse_jats_xml(Path("article.xml")))
body = text.partition("## Results")[2]
print("jats", version("jats"), " | ".join(body.split("\n\n")))
assert "It held 106 m3.1 Then it grewBy 5 a day. fast." in body, body
assert "The end." in body, body
assert not any(words in text for words in ("First step", "Second step", "mc")), text
PYTHON
