"""A claim checker that reads claim and evidence together: MiniLM (the shipped embedder) trained as a cross-encoder.

    python -m bench.checkers.cross train PAIRS.jsonl CHECKPOINT.pt --steps N [--seed N] [--minutes M] [--resume]

PAIRS is the file of `bench.checkers.made`; the labels of Factcheck-GPT and of BEGIN's Wizard-of-Wikipedia part are
added (three of ten pairs). A checkpoint is written every ten minutes and at the end; `--resume` goes on from it. The
order of pairs and the learning rate depend on seed and steps only; `--minutes` ends a leg. Needs torch, which is no
dependency of longmark.

Input: [CLS] evidence [SEP] claim [SEP]. To each token's embedding is added whether the other text has the token. A
token of the claim gets log-odds of being unsupported; the pair's are the greatest of them plus a linear function of the
mean over the claim and of [CLS]. Word embeddings stay as they are.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from bench.checkers.data import in_sentences, labelled, windows
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits as cross_entropy
from torch.nn.functional import gelu, scaled_dot_product_attention

from longmark.contrib.local import catalogue
from longmark.contrib.local.minilm import _read_weights

LONGEST, CLAIM = 128, 56  # tokens of an input; of a claim in it
TRAINED = 80  # tokens of a pair by rule, at most: two shared cores
WIDTH, HEADS, LAYERS = 384, 12, 6
LABELLED, BATCH, PEAK, WARM = (
    0.3,
    16,
    1.5e-4,
    100,
)  # share of labelled pairs; pairs a step; learning rate; steps to it
EVERY = 600  # seconds between checkpoints


class Read(NamedTuple):
    """A pair as tokens. kind: 0 evidence, 1 claim; spans: of the claim's tokens in the claim."""

    ids: list[int]
    kind: list[int]
    spans: list[tuple[int, int]]


class PairReader:
    """Pairs to tokens; the evidence is cut where the input would be too long."""

    def __init__(self) -> None:
        self.tokenizer: Any = Tokenizer.from_file(
            str(catalogue.model_path("embedder").with_name("tokenizer.json"))
        )
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        names: dict[str, int] = self.tokenizer.get_vocab()
        self.cls, self.sep = names["[CLS]"], names["[SEP]"]

    def read(self, pairs: Sequence[tuple[str, str]]) -> list[Read]:
        sides = [
            self.tokenizer.encode_batch(list(texts), add_special_tokens=False)
            for texts in zip(*pairs, strict=True)
        ]
        found = []
        for evidence, claim in zip(*sides, strict=True):
            own = claim.ids[:CLAIM]
            rest = evidence.ids[: LONGEST - len(own) - 3]
            kind = [0] * (len(rest) + 2) + [1] * len(own) + [0]
            found.append(
                Read([self.cls, *rest, self.sep, *own, self.sep], kind, claim.offsets[:CLAIM])
            )
        return found


class PairBatch(NamedTuple):
    ids: Tensor
    kind: Tensor
    shared: Tensor
    mask: Tensor


def batch_of(reads: Sequence[Read]) -> PairBatch:
    longest = max(len(one.ids) for one in reads)
    ids, kind, shared, mask = (torch.zeros(len(reads), longest, dtype=torch.long) for _ in range(4))
    for row, one in enumerate(reads):
        here = slice(0, len(one.ids))
        sides = [
            {token for token, side in zip(one.ids, one.kind, strict=True) if side == which}
            for which in (0, 1)
        ]
        ids[row, here], kind[row, here], mask[row, here] = (
            torch.tensor(one.ids),
            torch.tensor(one.kind),
            1,
        )
        also = [token in sides[1 - side] for token, side in zip(one.ids, one.kind, strict=True)]
        shared[row, here] = torch.tensor(also, dtype=torch.long)
    return PairBatch(ids, kind, shared, mask)


class CrossEncoder(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.words = nn.Embedding(30522, WIDTH)
        self.positions, self.kinds, self.shared = (
            nn.Embedding(512, WIDTH),
            nn.Embedding(2, WIDTH),
            nn.Embedding(2, WIDTH),
        )
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.token, self.pair = nn.Linear(WIDTH, 1), nn.Linear(2 * WIDTH, 1)
        nn.init.zeros_(self.shared.weight)
        self.words.weight.requires_grad = False

    def forward(self, batch: PairBatch) -> tuple[Tensor, Tensor]:
        """Log-odds of "not supported": of each pair, (pairs); of each token, (pairs, tokens)."""
        places = self.positions.weight[: batch.ids.shape[1]]
        hidden = self.norm(
            self.words(batch.ids) + places + self.kinds(batch.kind) + self.shared(batch.shared)
        )
        attend = batch.mask.bool()[:, None, None, :]
        for layer in self.layers:
            hidden = layer(hidden, attend)
        tokens = self.token(hidden)[..., 0]
        own = batch.kind.float()
        mean = (hidden * own[..., None]).sum(1) / own.sum(1, keepdim=True).clamp(min=1)
        worst = tokens.masked_fill(batch.kind == 0, -1e4).amax(1)
        return self.pair(torch.cat((mean, hidden[:, 0]), 1))[:, 0] + worst, tokens


class Layer(nn.Module):  # type: ignore[misc]
    def __init__(self) -> None:
        super().__init__()
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)
        self.first, self.second = nn.LayerNorm(WIDTH, eps=1e-12), nn.LayerNorm(WIDTH, eps=1e-12)
        self.drop = nn.Dropout(0.1)

    def forward(self, hidden: Tensor, attend: Tensor) -> Tensor:
        query, key, value = self.qkv(hidden).unflatten(-1, (3, HEADS, -1)).permute(2, 0, 3, 1, 4)
        mixed = (
            scaled_dot_product_attention(query, key, value, attn_mask=attend)
            .transpose(1, 2)
            .flatten(2)
        )
        hidden = self.first(hidden + self.drop(self.out(mixed)))
        normal: Tensor = self.second(hidden + self.drop(self.down(gelu(self.up(hidden)))))
        return normal


def from_embedder() -> CrossEncoder:
    """The embedder's weights; what it has not (`shared`, the heads) is new."""
    model, weights = CrossEncoder(), _read_weights(catalogue.model_path("embedder"))
    names = {
        "words": "word_embeddings",
        "positions": "position_embeddings",
        "kinds": "token_type_embeddings",
    }
    state = {
        f"{own}.weight": weights[f"embeddings.{theirs}.weight"] for own, theirs in names.items()
    }
    parts = {
        "qkv": "attention.self.qkv",
        "out": "attention.output.dense",
        "first": "attention.output.LayerNorm",
    }
    parts |= {"up": "intermediate.dense", "down": "output.dense", "second": "output.LayerNorm"}
    for end in ("weight", "bias"):
        state[f"norm.{end}"] = weights[f"embeddings.LayerNorm.{end}"]
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}"
            state |= {
                f"layers.{layer}.{own}.{end}": weights[f"{at}.{theirs}.{end}"]
                for own, theirs in parts.items()
            }
    missing = model.load_state_dict(
        {name: torch.tensor(value) for name, value in state.items()}, strict=False
    )
    assert not missing.unexpected_keys
    return model


def load(path: Path) -> CrossEncoder:
    """The model of a checkpoint or of a file of `save`."""
    model = from_embedder()
    model.load_state_dict(
        {name: value.float() for name, value in torch.load(path)["model"].items()}, strict=False
    )
    model.eval()
    return model


# Training ------------------------------------------------------------------------------------------------------------


def batches(made: list[Any], people: list[Any], seed: int) -> Iterator[list[Any]]:
    """Batches without end, of pairs of like length; each pair comes again when all others of its kind have come."""
    draw = random.Random(seed)

    def endless(rows: list[Any]) -> Iterator[Any]:
        while True:
            yield from draw.sample(rows, len(rows))

    of_rules, of_people = endless(made), endless(people)
    while True:
        some = [
            next(of_people if draw.random() < LABELLED else of_rules) for _ in range(32 * BATCH)
        ]
        some.sort(key=lambda one: len(one[1].ids))
        starts = list(range(0, len(some), BATCH))
        draw.shuffle(starts)
        yield from (some[start : start + BATCH] for start in starts)


def loss_of(model: CrossEncoder, rows: Sequence[tuple[dict[str, Any], Read]]) -> Tensor:
    batch = batch_of([read for _, read in rows])
    pair, tokens = model(batch)
    loss = cross_entropy(pair, torch.tensor([1.0 - row["label"] for row, _ in rows]))
    wanted, known = torch.zeros_like(tokens), torch.zeros_like(tokens)
    for place, (row, read) in enumerate(rows):
        if row["marked"] is not None:
            start = read.kind.index(1)
            stop = start + len(read.spans)
            known[place, start:stop] = 1
            touched = [
                float(any(a < end and b > begin for begin, end in row["marked"]))
                for a, b in read.spans
            ]
            wanted[place, start:stop] = torch.tensor(touched)
    if known.any():
        loss = loss + 0.5 * cross_entropy(tokens, wanted, known, reduction="sum") / known.sum()
    return loss


def save(path: Path, content: dict[str, Any]) -> None:
    torch.save(content, path.with_suffix(".new"))
    path.with_suffix(".new").replace(path)


def train(given: argparse.Namespace) -> None:
    torch.manual_seed(given.seed)
    torch.set_num_threads(given.threads)
    reader, model = PairReader(), from_embedder()
    people_said: list[dict[str, Any]] = [
        {
            "evidence": windows(one)[0],
            "claim": one.claim,
            "label": int(one.supported),
            "marked": None,
        }
        for one in map(in_sentences, labelled(kept_out=False))
    ]
    sets = [json.loads(line) for line in given.pairs.open(encoding="utf-8")], people_said
    made, people = (
        list(zip(rows, reader.read([(row["evidence"], row["claim"]) for row in rows]), strict=True))
        for rows in sets
    )
    made = [pair for pair in made if len(pair[1].ids) <= TRAINED]
    free = [value for value in model.parameters() if value.requires_grad]
    adam = torch.optim.AdamW(free, lr=PEAK, weight_decay=0.01)
    step, spent = 0, 0.0
    if given.resume and given.checkpoint.exists():
        kept = torch.load(given.checkpoint)
        model.load_state_dict(kept["model"], strict=False)
        adam.load_state_dict(kept["adam"])
        step, spent = kept["step"], kept["seconds"]
    print(f"{len(made)} pairs by rule, {len(people)} labelled; from step {step}", flush=True)
    begun = saved = time.monotonic()
    model.train()
    recent: list[float] = []

    def keep() -> None:
        state = {
            name: value for name, value in model.state_dict().items() if name != "words.weight"
        }
        seconds = spent + time.monotonic() - begun
        save(
            given.checkpoint,
            {"model": state, "adam": adam.state_dict(), "step": step, "seconds": seconds},
        )

    for place, rows in enumerate(batches(made, people, given.seed)):
        if place < step:
            continue
        now = time.monotonic()
        if step >= given.steps or now - begun > 60 * given.minutes:
            break
        if now - saved > EVERY:
            keep()
            saved = now
        for group in adam.param_groups:
            group["lr"] = PEAK * min((step + 1) / WARM, max(0.0, 1 - step / given.steps))
        loss = loss_of(model, rows)
        adam.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(free, 1.0)
        adam.step()
        recent.append(loss.item())
        step += 1
        if step % 10 == 0:
            print(
                f"step {step}, {now - begun:.0f} s, loss {sum(recent) / len(recent):.3f}",
                flush=True,
            )
            recent.clear()
    keep()


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.checkers.cross", description=__doc__)
    parser.add_argument("verb", choices=["train"])
    parser.add_argument("pairs", type=Path)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--minutes", type=float, default=120)
    parser.add_argument("--resume", action="store_true")
    train(parser.parse_args())


if __name__ == "__main__":
    main()
