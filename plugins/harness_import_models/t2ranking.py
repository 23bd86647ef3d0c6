"""T2Ranking's checkpoints: pickles of the tensors of its dual-encoders (`lm_q` and `lm_p`) and of its
cross-encoder (`lm`), whose names are transformers' own behind these prefixes."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from harness.plugin import HarnessError
from harness.toolkit.neural import pickled
from harness_import_models import ernie
from harness_import_models.folders import Network, Read, object_of

# How many tokens the authors' scripts read (script/train_dual_encoder.sh and train_cross_encoder.sh); the
# paper gives 256 for passages and 288 for pairs.
LENGTHS = {"queries": 32, "passages": 300, "pairs": 332}
_TOWERS = {"lm_q.": ("query", "queries"), "lm_p.": ("passage", "passages")}
_COMPUTED = r"(.*\.)?position_ids"


def read(place: Path, base: Path) -> Read:
    """Reads a checkpoint. `base` is a folder with config.json and tokenizer of the model that it began as."""
    if not place.is_file():
        raise HarnessError(f"model: there is no file {place}; check the path")
    architecture = object_of(base / "config.json")
    tensors = {name: tensor.numpy() for name, tensor in pickled.tensors(place).items()}
    left = Counter({"computed again": sum(1 for name in tensors if re.fullmatch(_COMPUTED, name))})
    kept = {name: tensor for name, tensor in tensors.items() if not re.fullmatch(_COMPUTED, name)}
    if any(name.startswith(tuple(_TOWERS)) for name in kept):
        parts = [(below, reads, prefix, "BertModel") for prefix, (below, reads) in _TOWERS.items()]
    else:
        prefix = "lm." if all(name.startswith("lm.") for name in kept) else ""
        parts = [("", "pairs", prefix, "BertForSequenceClassification")]
    strange = sorted(name for name in kept if not name.startswith(tuple(part[2] for part in parts)))
    if strange:
        raise HarnessError(f"model: {place} has {strange[0]}, which is of none of T2Ranking's networks")
    networks = []
    for below, reads, prefix, kind in parts:
        inner = {name.removeprefix(prefix): one for name, one in kept.items() if name.startswith(prefix)}
        config = {**architecture, "architectures": [kind]}
        if reads == "pairs":
            config |= {"num_labels": 1, "id2label": {"0": "LABEL_0"}, "label2id": {"LABEL_0": 0}}
        within = "bert." if reads == "pairs" else ""
        body = {name.removeprefix(within): one for name, one in inner.items() if name.startswith(within)}
        names = {within + name for name in ernie.bert_names(reads, architecture)}
        names |= {"classifier.weight", "classifier.bias"} if reads == "pairs" else set()
        for wrong, what in ((names - set(inner), "lacks"), (set(inner) - names, "has no place for")):
            if wrong:
                raise HarnessError(f"model: {place} {what} {prefix}{min(wrong)} ({len(wrong)} such tensors)")
        ernie.checked_sizes(body, architecture)
        networks.append(Network(below, reads, config, inner))
    return Read(networks, base, LENGTHS, len(tensors), +left)
