"""The verb `longmark certify`, and how `longmark verify` reads a certificate. Signatures are OpenSSH's (ssh-keygen)."""

from __future__ import annotations

import argparse
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import UNDER, needs_stats
from longmark.cli.label_options import corrections_of
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
    claimed = Claimed(
        claim=arguments.claim,
        runs=tuple(map(str, arguments.runs)),
        labels=str(arguments.labels),
        audit=arguments.audit and str(arguments.audit),
        equal_chances=arguments.equal_chances,
        draw=arguments.draw and str(arguments.draw),
        looks=options["looks"],
        these_raters=options["these_raters"],
        by=arguments.by,
        cluster=arguments.cluster or "question_id",
        label=options["label"],
        mapping=options["mapping"],
        order=options["order"],
        leave_out=options["leave_out"],
        raters=options["raters"],
        label_columns=options["label_columns"],
        calibrate=options["calibrate"],
        seed=options["seed"],
    )
    certificate = certified(claimed)
    page = document(certificate)
    write_document(page, arguments.out / "report.html")
    path = arguments.out / "certificate.json"
    with replacing(path) as file:
        file.write(f"{as_json(certificate)}\n".encode())
    if (reach := reach_of(path, certificate)) is not None:
        with suppress(OSError):
            remember(path, [reach])
    result = next(section.says for section in page.sections if section.title == "Result")
    print(f"{page.title}\n{result}")
    for line in certificate["missing"]:
        print(f"missing: {line}")
    print(f"Certificate: {path}\nPage: {arguments.out / 'report.html'}")
    if arguments.sign is not None:
        _sign(path, arguments.sign)
    return 0 if certificate["granted"] else UNDER


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
    for input_file in inputs_of(certificate):
        try:
            file = real(input_file)
        except (OSError, RuntimeError, ValueError) as error:  # a link to itself, a NUL byte
            raise UserError(f"{path}: the input {str(input_file)!a} is no path ({error})") from None
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

    certificate = read_certificate(path)
    if (reach := reach_of(path, certificate)) is not None:
        trust.require(path, reach)
    changed = verified(certificate)
    for line in changed:
        print(f"changed: {line}")
    inputs = counted(len(certificate["inputs"]), "input")
    if changed:
        print(
            f"Not verified: {certificate['claim']}. {inputs}: the lines above say what has changed."
        )
    else:
        missing = ""
        if certificate["missing"]:
            missing = f" {counted(len(certificate['missing']), 'condition')} missing."
        print(f"{title_of(certificate)}.{missing} {inputs}: the same when it is computed again.")
    signed = _signature(path, signers)
    return 0 if not changed and certificate["granted"] and signed else UNDER


def _ssh_keygen() -> str:
    if (program := shutil.which("ssh-keygen")) is None:
        raise UserError(
            "signatures need ssh-keygen of OpenSSH; install it (Debian: openssh-client)"
        )
    return program


def _sign(path: Path, key: Path) -> None:
    signature = path.with_name(f"{path.name}.sig")
    remove(signature)  # ssh-keygen would ask
    signing = subprocess.run([_ssh_keygen(), "-Y", "sign", "-q", "-n", _NAMESPACE, "-f", key, path])
    if signing.returncode:
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
        command = [keygen, "-Y", *words, "-s", signature]
        return subprocess.run(
            command, input=path.read_text("utf-8"), capture_output=True, text=True, check=False
        )

    if signers is None:
        checking = asked("check-novalidate", "-n", _NAMESPACE)
        whose = "Whose key it is was not checked: --signers FILE."
    else:
        who = asked("find-principals", "-f", signers).stdout.partition("\n")[0]
        checking = asked("verify", "-n", _NAMESPACE, "-f", signers, "-I", who or "nobody")
        whose = f"In {signers}: {who}."
    if checking.returncode:
        print(
            f"The signature is not one of this certificate{'' if signers is None else f' by anyone in {signers}'}."
        )
        return False
    print(f"{checking.stdout.strip()}. {whose}")
    return True
