"""Attention over tokens that all rows of a batch share, which are kept once, and over each row's own."""

from __future__ import annotations

from typing import Any, cast

import torch

from harness.plugin import HarnessError


class Shared:
    """A cache as transformers' models use it: the keys and values of the tokens that all rows share, which
    the first call of the model reads as one row, and of each row's own tokens. Keys are kept as columns, and
    all places are read, so that nothing is copied."""

    def __init__(self) -> None:
        self.prefix: list[
            tuple[torch.Tensor, torch.Tensor]
        ] = []  # of each layer: [heads, d, P], [heads, P, d]
        self._own: list[tuple[torch.Tensor, torch.Tensor]] = []  # [rows, heads, d, T] and [rows, heads, T, d]
        self._padding = torch.zeros(0)  # int64[rows]: empty places before each row's own tokens
        self._length, self._rows, self._from, self._to = 0, slice(0), 0, 0

    @property
    def is_read(self) -> bool:
        """Whether the shared tokens have been read."""
        return self._length > 0

    def begin(self, padding: torch.Tensor, length: int) -> None:
        """Forget the own tokens of former rows; make room for `length` of each new row."""
        self._own, self._padding, self._length = [], padding, length

    def place(self, rows: slice, start: int, stop: int) -> None:
        """Say where the next tokens belong."""
        self._rows, self._from, self._to = rows, start, stop

    def select(self, rows: torch.Tensor) -> None:
        self._padding = self._padding[rows]
        self._own = [(keys[rows], values[rows]) for keys, values in self._own]

    def update(
        self, key_states: torch.Tensor, value_states: torch.Tensor, layer_idx: int, *args: Any, **kwargs: Any
    ) -> tuple[torch.Tensor, torch.Tensor]:
        columns = key_states.transpose(2, 3)
        if not self.is_read:
            self.prefix.append((columns[0].contiguous(), value_states[0].contiguous()))
            return key_states, value_states
        if len(self._own) == layer_idx:
            rows, (heads, size) = len(self._padding), columns.shape[1:3]
            keys = columns.new_zeros(rows, heads, size, self._length)
            values = value_states.new_zeros(rows, heads, self._length, value_states.shape[-1])
            self._own.append((keys, values))
        keys, values = self._own[layer_idx]
        keys[self._rows, :, :, self._from : self._to] = columns
        values[self._rows, :, self._from : self._to] = value_states
        return keys[self._rows], values[self._rows]

    def hidden(self) -> torch.Tensor:
        """bool[rows, L, T]: whether a place is hidden from a token: padding, or a later token."""
        places = torch.arange(self._length, device=self._padding.device)
        later = places > torch.arange(self._from, self._to, device=places.device)[:, None]
        return later | (places < self._padding[self._rows, None])[:, None]

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0  # positions are always given


def attention(
    module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
    attention_mask: torch.Tensor | None, scaling: float | None = None, *, shared: Shared, **options: Any,
) -> tuple[torch.Tensor, None]:  # fmt: skip
    """The attention of transformers' interface. The query is [rows, heads, L, d]; `group` of its heads share
    one head of the keys."""
    rows, heads, length, size = query.shape
    keys, values = shared.prefix[cast("int", module.layer_idx)]
    count, _, start = keys.shape
    window, group = options.get("sliding_window"), heads // count
    total = start + (value.shape[2] if shared.is_read else 0)
    if any(options.get(name) is not None for name in ("softcap", "s_aux")) or (window and total > window):
        raise HarnessError(
            "model: 'situate' has no attention with windows, caps or sinks; take another model"
        )
    if not shared.is_read:
        key, value = key.repeat_interleave(group, 1), value.repeat_interleave(group, 1)
        attend = torch.nn.functional.scaled_dot_product_attention
        return attend(query, key, value, is_causal=True, scale=scaling).transpose(1, 2), None
    scale = size**-0.5 if scaling is None else scaling
    grouped = query.reshape(rows, count, group * length, size)
    together = grouped.transpose(0, 1).reshape(count, -1, size)  # [heads of keys, rows * group * L, d]
    of_prefix = (together @ keys).view(count, rows, group * length, start).transpose(0, 1)
    scores = torch.cat([of_prefix, grouped @ key], -1).float().mul_(scale)
    by_token = scores.view(rows, count, group, length, -1)
    by_token[..., start:].masked_fill_(shared.hidden()[:, None, None], float("-inf"))
    shares = scores.softmax(-1).to(query.dtype)
    read = shares[..., :start].transpose(0, 1).reshape(count, -1, start) @ values
    mixed = read.view(count, rows, group * length, -1).transpose(0, 1) + shares[..., start:] @ value
    return mixed.reshape(rows, heads, length, -1).transpose(1, 2), None
