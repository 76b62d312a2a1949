"""What pip is to install on a runner: longmark at the commit that is installed here, with the extras that are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution

from longmark.errors import UserError

_OF_EXTRA = re.compile(r"""([A-Za-z0-9._-]+)[^;]*;.*\bextra\s*==\s*['"]([a-z0-9-]+)['"]""")
_PINNED = re.compile(
    r"==\s*\d"  # a version; of an index of the user's own, since longmark is on no public one
    r"|@[0-9a-f]{40}(?![0-9a-f])"  # a commit
    r"|#sha256=[0-9a-f]{64}"
    r"|^[^@]*\.whl$"  # a file of the repository
)
_OWN_NAME = re.compile(r"longmark\s*(\[[^\]]*\])?\s*(?:@|==)", re.IGNORECASE)
FORM = "'longmark[stats] @ git+https://HOST/longmark@COMMIT'"


def checked(text: str) -> str:
    """The requirement that the user wrote. UserError where it is not pinned: whoever may change what it then names would
    get the keys of the workflow."""
    text = text.strip()
    if "${{" in text or not text.isprintable():
        raise UserError(f"--requirement {text!r}: expected a requirement of pip in one line")
    if not _PINNED.search(text):
        raise UserError(
            f"--requirement {text}: is not pinned; name a full commit ({FORM}, 40 digits), a file with its hash "
            "(#sha256=…), a wheel in the repository, or a version of your own index (==1.2)"
        )
    match = _OWN_NAME.match(text)
    if match and "stats" not in re.split(r"[\s,\[\]]+", match[1] or ""):
        raise UserError(
            f"--requirement {text}: lacks the extra `stats`, which a comparison with a base needs: write longmark[stats]"
        )
    return text


def installed(extras: Iterable[str]) -> str:
    """The commit that pip installed longmark from, with these extras. UserError if it came from elsewhere."""
    text = distribution("longmark").read_text("direct_url.json")  # PEP 610
    source = json.loads(text) if text else {}
    commit = source.get("vcs_info", {}).get("commit_id")
    if not commit:
        origin = source.get("url", "an index")
        raise UserError(
            f"longmark was installed from {origin}, which a runner cannot repeat: say what pip installs there, with "
            f"--requirement {FORM} and the full commit"
        )
    vcs = source["vcs_info"]["vcs"]
    below = f"#subdirectory={source['subdirectory']}" if source.get("subdirectory") else ""
    return f"longmark[{','.join(sorted(extras))}] @ {vcs}+{source['url']}@{commit}{below}"


def installed_extras(candidates: Iterable[str]) -> Iterator[str]:
    """Those of the extras whose packages are all installed here."""
    packages: dict[str, list[str]] = {}
    for line in distribution("longmark").requires or ():
        if match := _OF_EXTRA.match(line):
            packages.setdefault(match[2], []).append(match[1])
    for extra in candidates:
        if all(map(_is_installed, packages.get(extra, ["longmark-has-no-such-extra"]))):
            yield extra


def _is_installed(package: str) -> bool:
    try:
        return Distribution.from_name(package) is not None
    except PackageNotFoundError:
        return False
