"""The verb `longmark certify`, and how `longmark verify` reads a certificate. Signatures are OpenSSH's (ssh-keygen)."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import UNDER, corrections_of, needs_stats
from longmark.errors import UserError
from longmark.places import real
from longmark.progress import counted
from longmark.report.page import as_json
from longmark.writing import remove, replacing

if TYPE_CHECKING:
    from longmark.models.trust import Reach, Trust

_NAMESPACE = "longmark"  # what a signature is for; one for something else is not accepted


def certify(arguments: argparse.Namespace) -> int:
    needs_stats("certify")
    from longmark.contrib.decide.certificate_page import document
    from longmark.contrib.decide.certify import Claimed
    from longmark.contrib.decide.certify import certify as certified
    from longmark.models.trust import remember
    from longmark.report.document import check_out, write_document

    check_out(arguments.out)
    if arguments.sign is not None:
        _ssh_keygen()
    options = corrections_of(arguments) or {}
    names = (
        "label",
        "mapping",
        "raters",
        "order",
        "leave_out",
        "calibrate",
        "looks",
        "these_raters",
        "seed",
    )
    same: dict[str, Any] = {name: options[name] for name in names}
    files: dict[str, Any] = {
        "labels": str(arguments.labels),
        "audit": arguments.audit and str(arguments.audit),
    }
    files["draw"] = arguments.draw and str(arguments.draw)
    how: dict[str, Any] = {
        name: getattr(arguments, name) for name in ("claim", "equal_chances", "by")
    }
    runs = tuple(map(str, arguments.runs))
    made = certified(
        Claimed(runs=runs, cluster=arguments.cluster or "question_id", **files, **how, **same)
    )
    page = document(made)
    write_document(page, arguments.out / "report.html")
    path = arguments.out / "certificate.json"
    with replacing(path) as file:
        file.write(f"{as_json(made)}\n".encode())
    if (reach := reach_of(path, made)) is not None:
        with suppress(OSError):
            remember(path, [reach])
    print(f"{page.title}\n{next(one.says for one in page.sections if one.title == 'Result')}")
    for line in made["missing"]:
        print(f"missing: {line}")
    print(f"Certificate: {path}\nPage: {arguments.out / 'report.html'}")
    if arguments.sign is not None:
        _sign(path, arguments.sign)
    return 0 if made["granted"] else UNDER


def is_certificate(path: Path) -> bool:
    """Whether what `verify` is given is a certificate: a JSON file that begins with its key."""
    if path.suffix != ".json" or not path.is_file():
        return False
    with open(path, "rb") as file:
        return b'"longmark_certificate"' in file.read(100)


def reach_of(path: Path, certificate: dict[str, Any]) -> Reach | None:
    """The inputs of a certificate that are neither below the working folder nor below the certificate's own: `verify`
    would read them, and the certificate may be a stranger's. None where there are none; UserError for a damaged one."""
    from longmark.contrib.decide.certificate_verification import inputs_of
    from longmark.models.trust import Reach

    folders = [real(Path.cwd()), real(path).parent]
    outside: list[str] = []
    for named in inputs_of(certificate):
        try:
            file = real(named)
        except (OSError, RuntimeError, ValueError) as error:  # a link to itself, a NUL byte
            raise UserError(f"{path}: the input {str(named)!a} is no path ({error})") from None
        if not any(file.is_relative_to(folder) for folder in folders):
            outside.append(str(file))
    if not outside:
        return None
    does = f"reads {', '.join(sorted(outside))}, outside of the working folder and of the certificate's"
    return Reach("its list of inputs", does=does)


def verify(path: Path, signers: Path | None, trust: Trust) -> int:
    """Prints what is not as it was certified. The exit code: 3 for that, for a refusal, and for a wrong signature.
    Untrusted where the certificate names files elsewhere, and the user does not trust it for them."""
    needs_stats("verify")
    from longmark.contrib.decide.certificate_page import title_of
    from longmark.contrib.decide.certificate_verification import read_certificate
    from longmark.contrib.decide.certificate_verification import verify as verified

    made = read_certificate(path)
    if (reach := reach_of(path, made)) is not None:
        trust.require(path, reach)
    changed = verified(made)
    for line in changed:
        print(f"changed: {line}")
    same = (
        "the lines above say what has changed" if changed else "the same when it is computed again"
    )
    what = f"Not verified: {made['claim']}" if changed else title_of(made)
    missing = (
        f" {counted(len(made['missing']), 'condition')} missing."
        if not changed and made["missing"]
        else ""
    )
    print(f"{what}.{missing} {counted(len(made['inputs']), 'input')}: {same}.")
    signed = _signature(path, signers)
    return 0 if not changed and made["granted"] and signed else UNDER


def _ssh_keygen() -> str:
    if (found := shutil.which("ssh-keygen")) is None:
        raise UserError(
            "signatures need ssh-keygen of OpenSSH; install it (Debian: openssh-client)"
        )
    return found


def _sign(path: Path, key: Path) -> None:
    signature = path.with_name(f"{path.name}.sig")
    remove(signature)  # ssh-keygen would ask
    done = subprocess.run([_ssh_keygen(), "-Y", "sign", "-q", "-n", _NAMESPACE, "-f", key, path])
    if done.returncode:
        raise UserError(
            f"--sign {key}: ssh-keygen could not sign; the certificate is written without a signature"
        )
    print(f"Signature: {signature}")


def _signature(path: Path, signers: Path | None) -> bool:
    """Prints who signed a certificate. False for a wrong signature, and without one where signers are given."""
    signature = path.with_name(f"{path.name}.sig")
    if not signature.is_file():
        print("Not signed." if signers is None else f"Not signed: {signature} is missing.")
        return signers is None
    keygen = _ssh_keygen()

    def asked(*words: str | Path) -> subprocess.CompletedProcess[str]:
        given = [keygen, "-Y", *words, "-s", signature]
        return subprocess.run(
            given, input=path.read_text("utf-8"), capture_output=True, text=True, check=False
        )

    if signers is None:
        done = asked("check-novalidate", "-n", _NAMESPACE)
        whose = "Whose key it is was not checked: --signers FILE."
    else:
        who = asked("find-principals", "-f", signers).stdout.partition("\n")[0]
        done = asked("verify", "-n", _NAMESPACE, "-f", signers, "-I", who or "nobody")
        whose = f"In {signers}: {who}."
    if done.returncode:
        print(
            f"The signature is not one of this certificate{'' if signers is None else f' by anyone in {signers}'}."
        )
        return False
    print(f"{done.stdout.strip()}. {whose}")
    return True
