"""People at a served study in a browser: they sign in, fill forms by hand or by keyboard, and submit."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
from tests.browser import VIEWS
from tests.contrib.annotate.browser.samples import RECORDS
from tests.contrib.annotate.serving import ServedStudy, serving

from longmark.contrib.annotate.checks import load
from longmark.contrib.annotate.study import template

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page


def written(folder: Path, name: str) -> Path:
    """STUDY.yaml of a template, with records for it."""
    path = folder / "STUDY.yaml"
    path.write_text(
        template(name).replace("from: run", "from: file").replace("runs/first", "answers.jsonl"),
        "utf-8",
    )
    items = folder / load(path).items.path[0]
    items.parent.mkdir(exist_ok=True)
    items.write_bytes(b"".join(orjson.dumps(record) + b"\n" for record in RECORDS[name]))
    return path


@contextmanager
def study_of(folder: Path, name: str) -> Iterator[ServedStudy]:
    with serving(written(folder, name)) as served:
        yield served


@dataclass
class Labeller:
    """Someone at a browser. hosts: all that their pages asked; complaints: what the console said."""

    served: ServedStudy
    context: BrowserContext
    page: Page
    hosts: set[str] = field(default_factory=set)
    complaints: list[str] = field(default_factory=list)

    def state(self, text: str) -> None:
        """Waits for the line beside the button."""
        self.page.wait_for_function(
            "text => document.getElementById('state')?.textContent.includes(text)",
            arg=text,
            timeout=30_000,
        )

    def submit(self) -> None:
        """Submits, and waits for the page that follows."""
        before = self.page.locator("input[name=once]").input_value()
        self.page.locator("#submit").click()
        self.gone(before)

    def gone(self, once: str) -> None:
        """Waits until another page view is shown."""
        self.page.wait_for_function(
            "once => document.readyState === 'complete' && document.querySelector('input[name=once]')?.value !== once",
            arg=once,
            timeout=30_000,
        )


@contextmanager
def someone(
    browser: Browser, served: ServedStudy, name: str, *, view: str = "desktop", **more: Any
) -> Iterator[Labeller]:
    """A person who opened their link and signed in by its button. Fails where a page asked another server, or where the
    console complained."""
    role = more.pop("role", "annotator")
    context = browser.new_context(**VIEWS[view], **more)
    context.set_default_timeout(30_000)
    page = context.new_page()
    person = Labeller(served, context, page)
    context.on("request", lambda request: person.hosts.add(urlsplit(request.url).netloc))
    page.on("pageerror", lambda error: person.complaints.append(str(error)))
    page.on(
        "console",
        lambda said: (
            person.complaints.append(said.text) if "Content Security" in said.text else None
        ),
    )
    page.goto(served.link(name, role))
    page.get_by_role("button", name="Sign in").click()
    if role == "annotator":
        page.goto(f"{served.url}/work")
        while (
            confirm := page.locator(
                "form[action='/consent'] button, form[action='/guidelines'] button"
            )
        ).count():
            confirm.click()
    yield person
    assert person.complaints == []
    assert person.hosts - {""} == {urlsplit(served.url).netloc}, (
        "nothing is requested from elsewhere"
    )
    context.close()


def fill(page: Page, *, scripts: bool = True) -> None:
    """Answers every field by hand, in the order of the page."""
    fields = page.locator("#labels [data-field]")
    place = 0
    while place < fields.count():
        one = fields.nth(place)
        place += 1
        if one.is_visible():
            _answer(page, one, scripts)


def _answer(page: Page, one: Locator, scripts: bool) -> None:
    kind = one.get_attribute("class") or ""
    if "field-matrix" in kind:
        for text in one.locator("textarea").all():
            text.fill("The gate closes at 2.1 m.")
    elif "field-spans" in kind:
        if scripts:
            mark(page, one, 0, 3)
    elif "field-cloze" in kind:
        one.locator(".cloze label").nth(1).click()
    elif "field-edit" in kind or one.locator("label.option").count():
        one.locator("label.option").first.click()
    else:
        one.locator("textarea, input").first.fill("It is right 🌊.")


def mark(page: Page, spans: Locator, start: int, end: int, tag: int = 0) -> None:
    """Selects UTF-16 units of the first leaf of the text that a field marks, and presses a tag."""
    over = spans.locator("[data-over]").get_attribute("data-over")
    page.locator(f"[data-text='{over}']").evaluate(
        """(text, [start, end]) => {
          const leaf = text.querySelector("[data-at]").firstChild;
          getSelection().setBaseAndExtent(leaf, start, leaf, end);
        }""",
        [start, end],
    )
    page.wait_for_selector(f"[data-over='{over}'] .tags.floating")
    spans.locator(".tag").nth(tag).click()


_FOCUS = """() => {
  const at = document.activeElement, group = at.closest("#labels [data-field]");
  const inputs = [...(group?.querySelectorAll("input[data-key]") ?? [])];
  const keys = inputs.filter((one) => one.closest("[data-field]") === group);
  return {id: at.id, kind: at.type ?? at.tagName, text: Boolean(at.dataset.text), group: group?.dataset.field ?? "",
    key: keys[0]?.dataset.key ?? "", marks: document.querySelectorAll(".marked li").length};
}"""


def by_keyboard(page: Page) -> None:
    """Answers every field and submits, with the keyboard alone."""
    press = page.keyboard.press
    if page.locator("[data-text][tabindex]").count():
        for _ in range(60):
            press("Tab")
            if page.evaluate(_FOCUS)["text"]:
                break
        for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight", "w"):
            press(key)
        assert page.evaluate(_FOCUS)["marks"] == 1
    press("j")
    for _ in range(80):
        at = page.evaluate(_FOCUS)
        if at["id"] == "submit":
            press("Control+Enter")
            return
        if at["kind"] in ("textarea", "text", "number"):
            page.keyboard.type("Right")
            press("Tab")
        elif (
            at["kind"] == "radio"
            and at["key"]
            and ".cloze" not in at["id"]
            and at["group"] != "f.term"
        ):
            press(at["key"])
        elif at["kind"] == "radio":
            press("Space")
            press("j")
        elif at["kind"] == "checkbox":
            press(at["key"])
            press("j")
        else:
            press("j")
    raise AssertionError(f"the keyboard does not lead to the button: {at}")
