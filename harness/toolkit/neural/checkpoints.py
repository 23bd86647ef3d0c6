"""Reads a model's weights and checks that no tensor is missing, surplus or misshapen."""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from transformers.utils import logging as chatter

from harness.errors import HarnessError
from harness.toolkit.neural import adapters, backbones, model_folder, pickled, prefixes, weight_files
from harness.toolkit.neural.weight_files import Chosen

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
# Tensors that a file may have and the model lacks: those that are computed anyway, in old files, and heads.
SURPLUS = (
    r"(.*\.)?position_ids",
    r"(.*\.)?pooler\.(dense\.)?(weight|bias)",
    r"(.*\.)?(cls|lm_head|mlm|generator_\w+|discriminator_\w+|vocab_\w+)\..*",
    r"(.*\.)?(classifier|qa_outputs|pre_classifier)\..*",
)
# Tensors that a file may lack: computed ones, and the pooler, which is read only if asked for by name.
SPARE = (r"(.*\.)?position_ids", r"(.*\.)?pooler\..*")


def weights(folder: Path) -> dict[str, torch.Tensor]:
    """All tensors of the weight files of a folder, on the CPU in their stored dtypes."""
    tensors: dict[str, torch.Tensor] = {}
    for path in files(folder):
        try:
            tensors.update(load_file(path))
        except (SafetensorError, OSError) as error:
            raise HarnessError(f"model: {path} cannot be read ({error}); fetch it again") from error
    return tensors


def files(folder: Path) -> list[Path]:
    """The safetensors files with the weights of a folder. Archives of torch are turned into such files, which
    lie in the store."""
    chosen = _chosen(folder)
    if not chosen.pickled:
        return [_undisguised(folder / name) for name in chosen.files]
    return [pickled.safetensors_of(folder / name) for name in chosen.files]


def _chosen(folder: Path) -> Chosen:
    chosen = weight_files.chosen(folder)
    if chosen is None:
        raise HarnessError(
            f"model: {folder} has none of {', '.join(weight_files.ORDER)}; is it a model's folder?"
        )
    return chosen


def _undisguised(path: Path) -> Path:
    """The path of a file that begins as safetensors do, whatever its name."""
    with path.open("rb") as file:
        start = file.read(9)
    if start[8:] != b"{":
        raise HarnessError(
            f"model: {path} is no file of safetensors (it begins with {start!r}); fetch it again, or take "
            "the model from its authors"
        )
    return path


@contextlib.contextmanager
def _readable(folder: Path) -> Iterator[Path]:
    """A folder that transformers can read: `folder` itself, or one of links that has safetensors in the place
    of torch's archives."""
    converted = files(folder)
    chosen = _chosen(folder)
    if not chosen.pickled:
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="passage-harness-") as name:
        place = Path(name) / folder.name
        place.mkdir()
        for path in folder.iterdir():
            if path.name not in (chosen.listing, *chosen.files):
                (place / path.name).symlink_to(path.absolute())
        if chosen.listing is None:
            (place / "model.safetensors").symlink_to(converted[0].absolute())
        else:
            _link_shards(place, converted)
        yield place


def _link_shards(place: Path, converted: Sequence[Path]) -> None:
    names: dict[str, str] = {}
    for number, path in enumerate(converted):
        shard = f"model-{number + 1:05}-of-{len(converted):05}.safetensors"
        (place / shard).symlink_to(path.absolute())
        with safe_open(path, "pt") as file:
            names |= dict.fromkeys(file.keys(), shard)
    index = {"metadata": {}, "weight_map": names}
    (place / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")


def load(
    folder: Path,
    kind: str = "AutoModel",
    dtype: str = "fp32",
    *,
    trust_remote_code: bool = False,
    code_revision: str | None = None,
    spare: Sequence[str] = SPARE,
    surplus: Sequence[str] = SURPLUS,
    **options: Any,
) -> Any:
    """A model of the transformers auto class `kind`, ready to infer. The tensors of the model and of the file
    must be the same, except that the file may lack names that match `spare` and have names that match
    `surplus`. `code_revision` is the commit of the code, if the folder takes its code from another model of
    the hub."""
    if (prefixed := prefixes.is_prefix(folder)) or adapters.is_adapter(folder):
        inner = load(backbones.network(folder), kind, dtype, spare=spare, surplus=surplus, **options)
        if prefixed:
            prefixes.install(inner, prefixes.read(folder))
        else:
            adapters.merge(inner, folder)
        return inner
    if trust_remote_code and code_revision is None:
        _refuse_foreign_code(folder)
    auto = _network(folder, kind)
    if code_revision is not None:  # only auto classes take this option
        options["code_revision"] = code_revision
    settings = model_folder.read(folder / "config.json") or {}
    if (unstated := model_folder.unstated_type(folder)) is not None:
        options["config"] = transformers.AutoConfig.for_model(unstated, **settings)
    elif not trust_remote_code and (translated := model_folder.translated(settings)) is not None:
        options["config"] = transformers.AutoConfig.for_model("nomic_bert", **translated)
    with quiet(), _readable(folder) as readable:
        try:
            model, report = auto.from_pretrained(
                readable,
                dtype=DTYPES[dtype],
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=trust_remote_code,
                output_loading_info=True,
                ignore_mismatched_sizes=True,  # reported below, by name
                **options,
            )
        except Exception as error:
            raise HarnessError(
                f"model: {folder} cannot be loaded as {kind}: {_why(error, readable)}"
            ) from error
    check(folder, report["missing_keys"], report["unexpected_keys"], spare=spare, surplus=surplus)
    shapes = sorted(str(item[0]) for item in report["mismatched_keys"])
    if shapes:
        raise HarnessError(
            f"model: {folder}: its configuration gives other shapes to {_some(shapes)}; "
            "take config.json and weights from the same model"
        )
    return model.eval().requires_grad_(False)


def _network(folder: Path, kind: str) -> Any:
    """The class that loads the folder's network."""
    if kind == "AutoModel" and model_folder.is_jina_bert(model_folder.read(folder / "config.json") or {}):
        from harness.toolkit.neural.jina_bert import JinaBert

        return JinaBert
    return getattr(transformers, kind)


def check(
    folder: Path,
    missing: Iterable[str],
    unexpected: Iterable[str],
    *,
    spare: Sequence[str] = (),
    surplus: Sequence[str] = (),
) -> None:
    """Raises HarnessError if tensors are missing or unexpected, apart from names that match `spare` and
    `surplus`."""
    absent = [name for name in sorted(missing) if not _matches(name, spare)]
    strange = [name for name in sorted(unexpected) if not _matches(name, surplus)]
    if not absent and not strange:
        return
    faults = [f"it lacks {_some(absent)}"] if absent else []
    faults += [f"it has {_some(strange)}, which have no place"] if strange else []
    raise HarnessError(
        f"model: the weights in {folder} are not those of its architecture: {' and '.join(faults)}; "
        "check that config.json and weights belong together and that the method suits this model"
    )


def take(
    tensors: Mapping[str, torch.Tensor], prefix: str, folder: Path, names: Iterable[str]
) -> dict[str, torch.Tensor]:
    """The tensors `names` below a prefix, by their names without the prefix. Raises HarnessError if one is
    missing."""
    wanted = list(names)
    check(folder, [prefix + name for name in wanted if prefix + name not in tensors], ())
    return {name: tensors[prefix + name] for name in wanted}


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Silences the messages and progress bars of transformers within the block: the harness checks what
    matters itself, and raises errors."""
    level, bar = chatter.get_verbosity(), chatter.is_progress_bar_enabled()
    chatter.set_verbosity_error()
    chatter.disable_progress_bar()
    try:
        yield
    finally:
        chatter.set_verbosity(level)
        if bar:
            chatter.enable_progress_bar()


def _refuse_foreign_code(folder: Path) -> None:
    """Refuses a folder that takes its code from another model without a commit: the code could then change
    unseen."""
    config = model_folder.read(folder / "config.json") or {}
    for name in () if model_folder.is_jina_bert(config) else model_folder.code_of(config):
        raise HarnessError(
            f"model: {folder} takes its code from {name}, of which no commit is named; name a folder that "
            f"has both: `hf download` the model with --local-dir DIR, `hf download {name} --include '*.py' "
            f"--local-dir DIR`, and take '{name}--' out of auto_map in DIR/config.json"
        )


def _matches(name: str, patterns: Sequence[str]) -> bool:
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:4])
    return shown if len(names) <= 4 else f"{shown} and {len(names) - 4} more"


def _why(error: Exception, folder: Path) -> str:
    said = str(error).replace(str(folder), folder.name)
    return (said.strip().splitlines() or [type(error).__name__])[0]
