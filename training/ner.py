"""Is a token classifier of ours a better recogniser than spaCy? Measures both and applies the rule of ADR 0036.

    python -m training.ner --data DIR --base DIR --work DIR

``--base`` is the folder of all-MiniLM-L6-v2 in torch, which is fine-tuned on half of the marked texts. Everything is
computed on one thread and depends on the seed alone. Both recognisers pass through the product's patterns. Results go
to ``WORK/figures.json``, the weights beside it.
"""

import argparse
import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import torch
from safetensors.torch import save_file
from tokenizers import Encoding, Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from transformers import AutoModel

from evaluation.metrics import SpanCounts
from services.common.adapters.spacy.recognizer import open_recognizer
from services.common.adapters.spacy.spans import merge
from services.common.ports.recognition import Entity
from services.common.settings.inference import InferenceSettings
from training.ner_rows import KINDS, MarkedText, Span, halves, pii, spans_of, wikigold, word_labels

MAX_TOKENS: Final = 128
BATCH: Final = 16
ENCODER_RATE: Final = 1e-4
HEAD_RATE: Final = 1e-3
UNLEARNT: Final = -100
"""Label of tokens that teach nothing: special ones, later pieces of a word, what is ignored."""
MARGIN: Final = 0.03
COST_SHARE: Final = 1 / 3

Guesses = list[list[Span]]


@dataclass(frozen=True, slots=True)
class Words:
    """A text in words: the token that begins each, and where it stands."""

    tokens: list[int]
    places: list[tuple[int, int]]


def words_of(encoding: Encoding) -> Words:
    """Return the words of an encoded text; special tokens belong to none."""
    tokens: list[int] = []
    places: list[tuple[int, int]] = []
    for token, (word, (start, end)) in enumerate(zip(encoding.word_ids, encoding.offsets, strict=True)):
        if word is None:
            continue
        if tokens and word == encoding.word_ids[token - 1]:
            places[-1] = (places[-1][0], end)
        else:
            tokens.append(token)
            places.append((start, end))
    return Words(tokens, places)


class TokenClassifier(nn.Module):
    """An encoder with a linear layer over each token.

    Args:
        encoder: a Hugging Face encoder.
        tokenizer: its tokenizer, without padding.
    """

    def __init__(self, encoder: nn.Module, tokenizer: Tokenizer) -> None:
        super().__init__()
        self.encoder = encoder
        self.tokenizer = tokenizer
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(encoder.config.hidden_size, 2 * len(KINDS) + 1)

    def forward(self, encodings: Sequence[Encoding]) -> Tensor:
        """Return ``(batch, tokens, labels)`` logits."""
        rows = [torch.tensor(encoding.ids) for encoding in encodings]
        ids = nn.utils.rnn.pad_sequence(rows, batch_first=True)
        mask = nn.utils.rnn.pad_sequence([torch.ones_like(row) for row in rows], batch_first=True)
        states = self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state
        logits: Tensor = self.head(self.dropout(states))
        return logits

    def find(self, texts: Sequence[str]) -> Guesses:
        """Return the names in each text."""
        encodings = self.tokenizer.encode_batch(list(texts))
        order = sorted(range(len(texts)), key=lambda row: len(encodings[row].ids))
        found: Guesses = [[] for _ in texts]
        self.eval()
        with torch.no_grad():
            for start in range(0, len(order), BATCH):
                rows = order[start : start + BATCH]
                labels = self([encodings[row] for row in rows]).argmax(-1).tolist()
                for row, of_tokens in zip(rows, labels, strict=True):
                    words = words_of(encodings[row])
                    found[row] = spans_of([of_tokens[token] for token in words.tokens], words.places)
        return found


def learnt(base: Path, texts: Sequence[MarkedText], epochs: int, seed: int) -> TokenClassifier:
    """Fine-tune on the texts, in bfloat16 arithmetic over float32 weights; word embeddings stay as they are."""
    torch.manual_seed(seed)
    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(MAX_TOKENS)
    model = TokenClassifier(AutoModel.from_pretrained(base).float(), tokenizer)
    model.encoder.embeddings.requires_grad_(requires_grad=False)
    encodings = tokenizer.encode_batch([text.text for text in texts])
    targets = [_targets(text, encoding) for text, encoding in zip(texts, encodings, strict=True)]
    trunk = [parameter for parameter in model.encoder.parameters() if parameter.requires_grad]
    groups = [{"params": trunk, "lr": ENCODER_RATE}, {"params": model.head.parameters(), "lr": HEAD_RATE}]
    optimizer = torch.optim.AdamW(groups, weight_decay=0.01)
    steps = epochs * -(-len(texts) // BATCH)
    decay = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1 - step / steps)
    model.train()
    for epoch in range(epochs):
        print(f"epoch {epoch + 1} of {epochs}, {len(texts)} texts", file=sys.stderr, flush=True)
        order: list[int] = torch.randperm(len(texts)).tolist()
        for start in range(0, len(order), BATCH):
            rows = order[start : start + BATCH]
            with torch.autocast("cpu", dtype=torch.bfloat16):
                logits = model([encodings[row] for row in rows])
            wanted = nn.utils.rnn.pad_sequence([targets[row] for row in rows], batch_first=True, padding_value=UNLEARNT)
            loss = functional.cross_entropy(logits.float().flatten(0, 1), wanted.flatten(), ignore_index=UNLEARNT)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            decay.step()
    return model


def _targets(text: MarkedText, encoding: Encoding) -> Tensor:
    words = words_of(encoding)
    targets = torch.full((len(encoding.ids),), UNLEARNT)
    for token, label in zip(words.tokens, word_labels(text, words.places), strict=True):
        targets[token] = UNLEARNT if label is None else label
    return targets


def with_patterns(texts: Sequence[str], found: Guesses) -> Guesses:
    """Return what is left of the model's names after the product's patterns took what is theirs."""
    merged = []
    for text, spans in zip(texts, found, strict=True):
        entities = merge(text, [Entity(kind, text[start:end], start, end) for kind, start, end in spans])
        merged.append([(entity.kind, entity.start, entity.end) for entity in entities])
    return merged


def by_kind(texts: Sequence[MarkedText], guesses: Guesses) -> dict[str, dict[str, float]]:
    """Return precision, recall and F1 of exact spans per kind."""
    figures = {}
    for kind in KINDS:
        counts = SpanCounts()
        for text, spans in zip(texts, guesses, strict=True):
            of_kind = [{span for span in text.counted(some) if span[0] is kind} for some in (spans, text.spans)]
            counts = counts.plus(*of_kind)
        figures[kind.value] = {
            "precision": round(counts.precision, 3),
            "recall": round(counts.recall, 3),
            "f1": round(counts.f1, 3),
            "names": counts.truths,
        }
    return figures


async def spacy_guesses(parts: Mapping[str, Sequence[str]]) -> tuple[dict[str, Guesses], float]:
    """Return what the product's recogniser finds today in each part, and the CPU seconds that it took once loaded."""
    recogniser = await open_recognizer(InferenceSettings())
    found: dict[str, Guesses] = {}
    try:
        await recogniser.recognize(next(iter(parts.values()))[:BATCH])
        started = time.process_time()
        for part, texts in parts.items():
            entities = await recogniser.recognize(texts)
            found[part] = [[(one.kind, one.start, one.end) for one in some] for some in entities]
        return found, time.process_time() - started
    finally:
        await recogniser.close()


def verdict(figures: dict[str, Any]) -> dict[str, bool]:
    """Apply the rule that ADR 0036 wrote down before the measurement; all four must hold for spaCy to go."""

    def f1(part: str, which: str) -> list[float]:
        return [figures[part][which][kind.value]["f1"] for kind in KINDS]

    def pairs(part: str) -> list[tuple[float, float]]:
        return list(zip(f1(part, "classifier"), f1(part, "spacy"), strict=True))

    speed = figures["texts_per_cpu_second"]
    return {
        "wikigold": all(ours >= theirs + MARGIN for ours, theirs in pairs("wikigold")),
        "pii": all(ours >= theirs for ours, theirs in pairs("pii")),
        "transfer": sum(f1("transfer", "classifier")) >= sum(f1("pii", "spacy")),
        "cost": speed["classifier"] >= COST_SHARE * speed["spacy"],
    }


def measure(data: Path, base: Path, work: Path, *, epochs: int, seed: int) -> dict[str, Any]:
    """Train, compare, keep the weights; return the figures with the rule's verdict."""
    wiki_learn, wiki_test = halves(wikigold(data))
    pii_learn, pii_test = halves(pii(data))
    tests = {"wikigold": wiki_test, "pii": pii_test}
    texts = {part: [text.text for text in some] for part, some in tests.items()}
    theirs, spacy_s = asyncio.run(spacy_guesses(texts))
    both = learnt(base, [*wiki_learn, *pii_learn], epochs, seed)
    both.find(texts["pii"][:BATCH])
    started = time.process_time()
    ours = {part: with_patterns(some, both.find(some)) for part, some in texts.items()}
    seconds = {"spacy": spacy_s, "classifier": time.process_time() - started}
    figures: dict[str, Any] = {"seed": seed, "epochs": epochs}
    for part, marked in tests.items():
        figures[part] = {
            "spacy": by_kind(marked, theirs[part]),
            "classifier": by_kind(marked, ours[part]),
            "texts": len(marked),
        }
    count = sum(map(len, texts.values()))
    figures["texts_per_cpu_second"] = {name: round(count / spent) for name, spent in seconds.items()}
    alone = learnt(base, wiki_learn, epochs, seed)
    figures["transfer"] = {"classifier": by_kind(pii_test, with_patterns(texts["pii"], alone.find(texts["pii"])))}
    figures["rule"] = verdict(figures)
    work.mkdir(parents=True, exist_ok=True)
    save_file({name: tensor.contiguous() for name, tensor in both.state_dict().items()}, work / "model.safetensors")
    (work / "figures.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return figures


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        prog="python -m training.ner", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with ner/ and pii/")
    parser.add_argument("--base", type=Path, required=True, help="folder of all-MiniLM-L6-v2 in torch")
    parser.add_argument("--work", type=Path, required=True, help="where weights and figures go")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(mode=True)
    figures = measure(options.data, options.base, options.work, epochs=options.epochs, seed=options.seed)
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
