"""Export a trained network for use without this library: as Python source, with torch.export, or as ONNX."""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import logging
import os
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ... import checks
from .network_module import NetworkModule
from .pytorch import nn, torch
from .source import SOURCE_FILE, WEIGHTS_FILE, python_source

PROGRAM_FILE, ONNX_FILE = "network.pt2", "network.onnx"
"""Names of the files that torch.export and ONNX write."""

FORMATS = {"python": (SOURCE_FILE, WEIGHTS_FILE), "torch": (PROGRAM_FILE,), "onnx": (ONNX_FILE,)}
"""The formats of `export_model` and their files."""

_TREESPEC = r"`isinstance\(treespec, LeafSpec\)` is deprecated"  # warning of torch.onnx about PyTorch's own code
_FLAT_WEIGHTS = r"The tensor attributes? .*_flat_weights.* assigned during export"  # of recurrent layers; has no effect


def export_model(
    model: NetworkModule, directory: str | os.PathLike[str], formats: str | Iterable[str] = ("python", "torch")
) -> None:
    """Write a network to files that can be used on the CPU without this library.

    Every format is compared with the model on random examples before anything is written. Files in the directory that an
    earlier export wrote in other formats are deleted, so that all files there belong to the same network.

    Args:
        model: A model from `study.best_model()`.
        directory: Where to write the files. It is created if necessary.
        formats: One or more of "python" (`network.py` and `weights.pt`), "torch" (`network.pt2`, for `torch.export.load`) and
            "onnx" (`network.onnx`, which needs `pip install "manyarms[onnx]"`).
    """
    wanted = _check_formats(formats)
    model = _frozen_copy(model)
    program = exported_program(model) if {"torch", "onnx"} & set(wanted) else None
    contents: dict[str, bytes] = {}
    if "python" in wanted:
        contents |= _python_files(model)
    if program is not None and "torch" in wanted:
        contents[PROGRAM_FILE] = _saved(lambda file: torch.export.save(program, file))
    if program is not None and "onnx" in wanted:
        contents[ONNX_FILE] = _onnx_file(program, model)
    path = Path(directory)
    path.mkdir(parents=True, exist_ok=True)
    for name in (name for names in FORMATS.values() for name in names if name not in contents):
        (path / name).unlink(missing_ok=True)
    for name, content in contents.items():
        (path / name).write_bytes(content)


def exported_program(model: NetworkModule) -> torch.export.ExportedProgram:
    """The network as a PyTorch exported program, on the CPU and in evaluation mode, for any number of rows.

    It takes float32 inputs, or float64 for tables.

    Raises:
        ValueError: If PyTorch cannot export a custom module, for example because its Python code depends on the values or
            the number of rows of its input.
    """
    model = _frozen_copy(model)
    example = torch.zeros(2, *model.layout.input_shape, dtype=model.mean.dtype)
    rows = torch.export.Dim("rows")
    with torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", _FLAT_WEIGHTS)
        try:
            program = torch.export.export(model, (example,), dynamic_shapes=({0: rows},), strict=False)
        except RuntimeError as error:
            reason = str(error).strip().splitlines()[0]
            raise ValueError(
                f"torch.export cannot export the network: {type(error).__name__}: {reason} "
                "The Python code of a custom module must not depend on the values or the number of rows of its input. "
                'To write only the Python source, use export_model(..., formats="python").'
            ) from error
    _check_scores("the exported program", _scores(program.module(), model), model)
    return program


def _check_formats(formats: str | Iterable[str]) -> list[str]:
    given = [formats] if isinstance(formats, str) else list(formats)
    if not given:
        raise ValueError(f"formats must contain at least one of {', '.join(FORMATS)}, got none")
    return [checks.one_of("formats", each, tuple(FORMATS)) for each in given]


def _frozen_copy(model: NetworkModule) -> NetworkModule:
    """A copy on the CPU in evaluation mode."""
    return copy.deepcopy(model).to("cpu").eval()


def _saved(save: Callable[[io.BytesIO], object]) -> bytes:
    buffer = io.BytesIO()
    save(buffer)
    return buffer.getvalue()


def _test_batches(model: NetworkModule) -> list[torch.Tensor]:
    """Inputs for comparing an exported network with the model: four rows, and three on the other side of the mean."""
    rows = torch.randn(4, *model.layout.input_shape, generator=torch.Generator().manual_seed(0), dtype=model.mean.dtype)
    return [rows * model.scale + model.mean, model.mean - rows[1:] * model.scale]


def _scores(network: Callable[[torch.Tensor], torch.Tensor], model: NetworkModule) -> list[torch.Tensor]:
    with torch.no_grad():
        return [network(rows) for rows in _test_batches(model)]


def _check_scores(what: str, found: list[torch.Tensor], model: NetworkModule) -> None:
    """Raise an error unless the exported network returned the scores of the model."""
    for scores, expected in zip(found, _scores(model, model), strict=True):
        same_shape = scores.shape == expected.shape
        if not same_shape or not torch.allclose(scores, expected, rtol=1e-4, atol=1e-5, equal_nan=True):
            raise ValueError(f"{what} must return the scores of the model, got {scores[0]} instead of {expected[0]}")


# -- ONNX


def _onnx_file(program: torch.export.ExportedProgram, model: NetworkModule) -> bytes:
    """The content of an ONNX file with the network. It is compared with the model in ONNX Runtime."""
    try:
        import onnxruntime
        import onnxscript  # noqa: F401  # torch.onnx needs it
    except ImportError:
        raise ImportError('exporting to ONNX needs onnxscript and onnxruntime: pip install "manyarms[onnx]"') from None
    with _quiet_onnx():
        onnx_program: Any = torch.onnx.export(
            program, dynamo=True, input_names=["x"], output_names=["scores"], verbose=False, optimize=True
        )
        content = _saved(onnx_program.save)
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    scores = _scores(lambda rows: torch.from_numpy(session.run(None, {"x": rows.numpy()})[0]), model)
    _check_scores("the ONNX model", scores, model)
    return content


@contextlib.contextmanager
def _quiet_onnx() -> Iterator[None]:
    """Hide messages of torch.onnx about PyTorch's own code and about packages that are not needed."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", _TREESPEC, FutureWarning)
            yield
    finally:
        logger.setLevel(level)


# -- Python source


def _python_files(model: NetworkModule) -> dict[str, bytes]:
    """The source and the weights of the network. The source is compared with the model."""
    text = python_source(model.layout)
    try:
        with torch.random.fork_rng(devices=[]):
            scores = _scores(_run_source(text, model), model)
    except NameError as error:
        raise ValueError(
            f"the source of {_class_at(error, text)} must use nothing but torch, nn, F and itself to be exported, "
            f"got {error.name}"
        ) from error
    except Exception as error:  # custom classes can raise anything
        raise ValueError(f"the exported source must run by itself, got {type(error).__name__}: {error}") from error
    _check_scores("the exported source", scores, model)
    return {SOURCE_FILE: text.encode(), WEIGHTS_FILE: _saved(lambda file: torch.save(model.state_dict(), file))}


def _run_source(text: str, model: NetworkModule) -> nn.Module:
    """The network that the source defines, with the weights of the model."""
    namespace: dict[str, Any] = {"__name__": "network"}
    exec(compile(text, SOURCE_FILE, "exec", dont_inherit=True), namespace)
    network: nn.Module = namespace["Network"]()
    network.load_state_dict(model.state_dict())
    return network.eval()


def _class_at(error: NameError, text: str) -> str:
    """Name of the class in the source that raised the error."""
    lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == SOURCE_FILE]
    classes = [node for node in ast.parse(text).body if isinstance(node, ast.ClassDef)]
    return next(node.name for node in classes if lines[-1] <= (node.end_lineno or 0))
