"""What the REPL and notebooks ask a result for, or a part of its page. `notebook.py` has what they show."""

from __future__ import annotations

from importlib import import_module

from longmark.errors import UserError


class ShownInForms:
    """What the REPL and notebooks ask a result for. Foreign text is escaped."""

    __slots__ = ()

    def _shown_as(self, form: str) -> str:
        """The result as `text`, `html` or `markdown`."""
        raise NotImplementedError

    def __repr__(self) -> str:
        try:
            return self._shown_as("text")
        except UserError as error:  # the folder is gone
            return f"<{type(self).__name__}: {error}>"

    def _repr_html_(self) -> str:
        return self._shown_as("html")

    def _repr_markdown_(self) -> str:
        return self._shown_as("markdown")


class PartShown(ShownInForms):
    """A document, a section, a table or a grid."""

    __slots__ = ()

    def _shown_as(self, form: str) -> str:
        # by its name: it imports the modules whose classes derive from this one
        text: str = import_module("longmark.report.notebook").part_as(form, self)
        return text
