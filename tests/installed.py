"""Whether an embedded model is installed here, for tests that skip without it. A core without packages has none."""

from __future__ import annotations

from longmark import plugins


def is_installed(*names: str) -> bool:
    point = plugins.find("catalogues", "embedded")
    if point is None:
        return False
    catalogue = plugins.loaded(point)
    return all(catalogue.is_installed(name) for name in names)
