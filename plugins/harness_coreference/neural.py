"""The resolver `fcoref`: start-to-end coreference (Kirstain et al. 2021) with the weights of F-coref and its
like (Otmazgin et al. 2022), in their own checkpoint format.

A mention is a span (s, e) of word pieces, x the encoder's vectors, every m and a below a layer of its own,
LayerNorm(act(W x + b)):

    f_m(s, e) = w_s m_s(x_s) + w_e m_e(x_e) + m_s(x_s) B_m m_e(x_e)                         (equation 1)
    f_a(c, q) = sum over i, j in {s, e} of a_i(c) B_ij a_j(q)                               (equation 2)
    f(c, q)   = f_m(c) + f_m(q) + f_a(c, q), and 0 for having no antecedent

The best lambda n spans of at most max_span_length pieces are kept; each goes to the span before it of the
highest f above 0. Time and memory grow with the square of n, so n has a bound beside the number of words.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import Tensor
from torch.nn import functional

from harness.errors import HarnessError
from harness.toolkit.neural import checkpoints
from harness_coreference.contract import Cluster, Mention
from harness_coreference.english_mentions import cut
from harness_coreference.windows import words_in

_LAYERS = ("start_mention_mlp", "end_mention_mlp", "start_coref_mlp", "end_coref_mlp")
_CLASSIFIERS = (
    "mention_start_classifier",
    "mention_end_classifier",
    "mention_s2e_classifier",
    "antecedent_s2s_classifier",
    "antecedent_e2e_classifier",
    "antecedent_s2e_classifier",
    "antecedent_e2s_classifier",
)
_PARTS_OF_LAYER = ("dense.weight", "dense.bias", "layer_norm.weight", "layer_norm.bias")
_PIECES = 4  # word pieces of a word, on average, at most; rows of marks have more, which are not read
_FEW = 100  # words: fewer have as many pieces as these
_SETTINGS = ("max_segment_len", "max_span_length", "top_lambda")


class Neural:
    """Weights are read from safetensors alone, whole and by their own names."""

    def __init__(self, folder: Path, device: str) -> None:
        with checkpoints.quiet():
            config = transformers.AutoConfig.from_pretrained(folder, local_files_only=True)
            self._tokens = transformers.AutoTokenizer.from_pretrained(
                folder, local_files_only=True, use_fast=True, add_prefix_space=True
            )
        self._settings = _settings(config, folder)
        self._act = transformers.activations.ACT2FN[config.hidden_act]
        self._epsilon = config.layer_norm_eps
        self._encoder, self._head = _loaded(folder, config)
        self._encoder.to(device)
        self._head = {name: tensor.to(device) for name, tensor in self._head.items()}
        self._device = device

    def resolve(self, passages: Sequence[str]) -> list[Cluster]:
        words = [(number, word) for number, row in enumerate(cut(passages)) for word in row]
        if not words:
            return []
        encoded = self._tokens([word.text for _, word in words], is_split_into_words=True)
        with torch.inference_mode():
            most = _PIECES * max(_FEW, sum(map(words_in, passages)))
            vectors = self._encoded(torch.tensor(encoded["input_ids"][:most], device=self._device))
            pairs = self._linked(vectors)
        word_of = encoded.word_ids()
        mentions: dict[tuple[int, int], Mention] = {}
        for span in {span for pair in pairs for span in pair}:
            first, last = word_of[span[0]], word_of[span[1]]
            if first is not None and last is not None and words[first][0] == words[last][0]:
                mentions[span] = Mention(words[first][0], words[first][1].start, words[last][1].end)
        return _chained(pairs, mentions)

    def _encoded(self, pieces: Tensor) -> Tensor:
        """float[n, width]: segments of equal length together, what is left over by itself."""
        size = self._settings["max_segment_len"]
        whole = len(pieces) // size * size
        parts = [pieces[:whole].view(-1, size)] if whole else []
        parts += [pieces[whole:].unsqueeze(0)] if whole < len(pieces) else []
        outputs = [self._encoder(part, attention_mask=torch.ones_like(part)) for part in parts]
        return torch.cat([output.last_hidden_state.flatten(0, 1) for output in outputs])

    def _linked(self, x: Tensor) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """(mention, antecedent) spans of pieces, ends included, by equations 1 and 2."""
        count = len(x)
        m_s, m_e, a_s, a_e = (self._layer(name, x) for name in _LAYERS)  # float[n, ffnn]
        f_m = self._linear("mention_s2e_classifier", m_s) @ m_e.T
        f_m = f_m + self._linear("mention_start_classifier", m_s)
        f_m = f_m + self._linear("mention_end_classifier", m_e).T  # float[start, end]
        allowed = torch.ones_like(f_m).triu(0).tril(self._settings["max_span_length"] - 1) > 0
        f_m = f_m.masked_fill(~allowed, -1e4)
        kept = min(int(count * self._settings["top_lambda"]), int(allowed.sum()))
        best = f_m.flatten().topk(kept).indices.sort().values  # int64[k], in reading order
        starts, ends = best // count, best % count
        a_s, a_e = a_s[starts], a_e[ends]
        f_a = self._linear("antecedent_s2s_classifier", a_s) @ a_s.T
        f_a = f_a + self._linear("antecedent_e2e_classifier", a_e) @ a_e.T
        f_a = f_a + self._linear("antecedent_s2e_classifier", a_s) @ a_e.T
        f_a = f_a + self._linear("antecedent_e2s_classifier", a_e) @ a_s.T  # float[mention, antecedent]
        of_spans = f_m[starts, ends]
        f = f_a + of_spans.unsqueeze(0) + of_spans.unsqueeze(1)
        f = f.masked_fill(torch.ones_like(f).tril(-1) == 0, -1e4)
        if not kept:
            return []
        scores, antecedents = f.max(dim=1)
        spans = list(zip(starts.tolist(), ends.tolist(), strict=True))
        linked = torch.nonzero(scores > 0).flatten().tolist()
        return [(spans[mention], spans[int(antecedents[mention])]) for mention in linked]

    def _layer(self, name: str, x: Tensor) -> Tensor:
        hidden = self._act(self._linear(f"{name}.dense", x))
        weight, bias = self._head[f"{name}.layer_norm.weight"], self._head[f"{name}.layer_norm.bias"]
        return functional.layer_norm(hidden, weight.shape, weight, bias, self._epsilon)

    def _linear(self, name: str, x: Tensor) -> Tensor:
        return functional.linear(x, self._head[f"{name}.weight"], self._head[f"{name}.bias"])


def _settings(config: Any, folder: Path) -> Mapping[str, Any]:
    head: Mapping[str, Any] = getattr(config, "coref_head", None) or {}
    missing = [name for name in _SETTINGS if name not in head]
    if missing:
        raise HarnessError(
            f"model: {folder}/config.json has no {' and '.join(missing)} in coref_head; "
            "name the folder of an F-coref model, as biu-nlp/f-coref"
        )
    return head


def _loaded(folder: Path, config: Any) -> tuple[Any, dict[str, Tensor]]:
    """The encoder, and the head's tensors by their names in the file."""
    tensors = checkpoints.weights(folder)
    with checkpoints.quiet():
        encoder = transformers.AutoModel.from_config(config)
    prefix = encoder.base_model_prefix + "."
    names = [f"{name}.{part}" for name in _LAYERS for part in _PARTS_OF_LAYER]
    names += [f"{name}.{part}" for name in _CLASSIFIERS for part in ("weight", "bias")]
    body = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    wanted = encoder.state_dict()
    absent = [prefix + name for name in wanted if name not in body]
    absent += [name for name in names if name not in tensors]
    others = [name for name in tensors if name not in names and not name.startswith(prefix)]
    others += [prefix + name for name in body if name not in wanted]
    checkpoints.check(folder, absent, others, spare=checkpoints.SPARE, surplus=checkpoints.SURPLUS)
    encoder.load_state_dict({name: tensor for name, tensor in body.items() if name in wanted}, strict=False)
    return encoder.float().eval().requires_grad_(False), {name: tensors[name].float() for name in names}


def _chained(
    pairs: Sequence[tuple[tuple[int, int], tuple[int, int]]],
    mentions: Mapping[tuple[int, int], Mention],
) -> list[Cluster]:
    """Mentions that are linked, however far along the chain, are one cluster."""
    first: dict[tuple[int, int], tuple[int, int]] = {}
    for mention, antecedent in pairs:  # in reading order, so that an antecedent's own link is known
        first[mention] = first.get(antecedent, antecedent)
        first.setdefault(antecedent, antecedent)
    groups: dict[tuple[int, int], set[Mention]] = defaultdict(set)
    for span, root in first.items():
        if span in mentions:
            groups[root].add(mentions[span])
    return sorted(tuple(sorted(group)) for group in groups.values() if len(group) > 1)
