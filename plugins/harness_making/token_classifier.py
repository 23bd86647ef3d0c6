"""A pretrained model that labels tokens, as T2Ranking's segmentation model does (section 4.2, equation 1)."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from harness.plugin import HarnessError
from harness.toolkit.neural import checkpoints, model_folder, models, tokens
from harness.toolkit.neural.tokens import Tokens
from harness_making import SegmentParams, boundaries
from harness_making.boundaries import Places

BATCH = 16  # windows
# A checkpoint may lack only computed buffers, so it must have its head; it may also have a pre-training head.
SPARE = (r"(.*\.)?position_ids",)
SURPLUS = (r"(.*\.)?position_ids", r"(.*\.)?pooler\.(dense\.)?(weight|bias)", r"(cls|lm_head)\..*")


class Window(NamedTuple):
    """A part of a long text that the model reads at once, and the part of its answers that counts."""

    start: int  # a token
    stop: int
    kept: int  # its answers count from this token on, until those of the next window


class TokenClassifier:
    """A model that gives each token the probability that a passage ends with it."""

    def __init__(self, params: SegmentParams, characters: bool) -> None:
        assert params.model is not None
        folder = models.folder(params.model, params.revision)
        self._tokeniser, self._characters = tokens.load(folder), characters
        model = checkpoints.load(
            folder, "AutoModelForTokenClassification", params.dtype, spare=SPARE, surplus=SURPLUS
        )
        self._model, self._device = model.to(params.device), params.device
        self._typed = getattr(model.config, "type_vocab_size", 0) > 1
        self._label = _label(params.label, dict(model.config.id2label))
        self._room = _length(folder, params.length) - self._tokeniser.single.added

    def ends(self, text: str, sigma: float) -> Places:
        """The places at which a passage ends: the probability of the token before is at least `sigma`."""
        encoding = self._tokeniser.backend.encode(text, add_special_tokens=False)
        likely = self._probabilities(encoding.ids) >= sigma
        stops = {stop for (_, stop), end in zip(encoding.offsets, likely.tolist(), strict=True) if end}
        # in text with blanks, a place is after the blank that follows a word
        behind = 0 if self._characters else 1
        places = boundaries.places(text, self._characters)
        return places[np.isin(places - behind, np.array(sorted(stops), np.int64))]

    def _probabilities(self, ids: list[int]) -> NDArray[np.float32]:
        """float32[n]: the probability of each token. In several windows, that with more context decides."""
        template, parts = self._tokeniser.single, windows(len(ids), self._room)
        found = np.zeros(len(ids), np.float32)
        for first in range(0, len(parts), BATCH):
            block = parts[first : first + BATCH]
            rows = [[*template.before, *ids[part.start : part.stop], *template.after] for part in block]
            bounds = np.cumsum([0, *map(len, rows)])
            packed = Tokens(np.array([id for row in rows for id in row], np.int32), bounds)
            scores = self._scores(packed)
            for part, score in zip(block, scores, strict=True):
                start = len(template.before) + part.kept - part.start
                found[part.kept : part.stop] = score[start : start + part.stop - part.kept]
        return found

    def _scores(self, packed: Tokens) -> NDArray[np.float32]:
        """float32[windows, L]: the probability of the label, of all places of the padded windows."""
        arrays = tokens.padded(packed, self._tokeniser.padding)
        ids, mask, types = (torch.from_numpy(array).to(self._device) for array in arrays)
        more: dict[str, Any] = {"token_type_ids": types} if self._typed else {}
        with torch.inference_mode():
            logits = self._model(input_ids=ids, attention_mask=mask, **more).logits.float()
        scores: NDArray[np.float32] = logits.softmax(-1)[:, :, self._label].cpu().numpy()
        return scores


def windows(count: int, room: int) -> list[Window]:
    """Windows of `room` tokens that overlap by half. A token counts where it is farther from an edge."""
    if count <= room:
        return [Window(0, count, 0)]
    step = max(1, room // 2)
    starts = [*range(0, count - room, step), count - room]
    kept = [0, *((before + room + start) // 2 for before, start in itertools.pairwise(starts))]
    return [Window(start, start + room, first) for start, first in zip(starts, kept, strict=True)]


def _label(name: str, labels: dict[int, str]) -> int:
    """The number of the label of a passage's last token."""
    numbers = {text: number for number, text in labels.items()}
    if name in numbers:
        return int(numbers[name])
    if name == "auto" and len(numbers) == 2:
        return 1
    named = ", ".join(numbers)
    raise HarnessError(f"segment: label: the model has the labels {named}; say which one ends a passage")


def _length(folder: Path, asked: int | str) -> int:
    places = model_folder.places(folder)
    model_folder.refuse_beyond("segment: length", asked, places)
    length = model_folder.length(folder, places) if asked == "auto" else int(asked)
    if length is None:
        raise HarnessError(f"segment: length: {folder} does not say how many tokens it takes; give it")
    return length
