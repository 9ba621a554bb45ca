"""The pictures of the docs: what the browser drew is what the smaller file shows."""

from __future__ import annotations

import importlib.util
import struct
import zlib
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

PATH = Path(__file__).resolve().parent.parent.parent / "scripts" / "png.py"


@pytest.fixture(scope="module")
def png() -> ModuleType:
    spec = importlib.util.spec_from_file_location("png", PATH)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def filtered(png: ModuleType, pixels: NDArray[np.uint8]) -> bytes:
    """A PNG whose rows use all five filters in turn."""
    height, width, channels = pixels.shape
    rows = pixels.reshape(height, -1).astype(int)
    data = b""
    for y, row in enumerate(rows):
        up = rows[y - 1] if y else np.zeros_like(row)
        left, corner = (np.concatenate([np.zeros(channels, int), one[:-channels]]) for one in (row, up))
        paeth = np.array([png.paeth(*near) for near in zip(left, up, corner, strict=True)])
        guess = (0 * row, left, up, (left + up) // 2, paeth)[y % 5]
        data += bytes([y % 5]) + ((row - guess) % 256).astype(np.uint8).tobytes()
    header = struct.pack(">IIBBBBB", width, height, 8, 6 if channels == 4 else 2, 0, 0, 0)
    parts = ((b"IHDR", header), (b"IDAT", zlib.compress(data)), (b"IEND", b""))
    return bytes(png.SIGNATURE + b"".join(png.chunk(*part) for part in parts))


@pytest.mark.parametrize("channels", [3, 4])
def test_every_filter_is_undone(png: ModuleType, channels: int) -> None:
    pixels = np.random.default_rng(7).integers(0, 256, (11, 9, channels), dtype=np.uint8)
    assert (png.decode(filtered(png, pixels)) == pixels[:, :, :3]).all()


def test_few_colours_are_kept_exactly_and_many_stay_close(png: ModuleType) -> None:
    grid = np.indices((40, 40)).sum(axis=0)
    many = np.stack([grid * 3, grid * 2, 255 - grid * 3], axis=2).astype(np.uint8)
    many[20:, 20:] = np.random.default_rng(7).integers(0, 256, (20, 20, 3), dtype=np.uint8)
    for pixels, most in ((many[:1, :, :], 0), (many, 60)):
        shown = with_palette(png.small(filtered(png, pixels)), pixels.shape)
        assert np.abs(shown.astype(int) - pixels).max() <= most


def with_palette(data: bytes, shape: tuple[int, ...]) -> NDArray[np.uint8]:
    found, place = {}, 8
    while place < len(data):
        length, name = struct.unpack(">I4s", data[place : place + 8])
        found[name] = data[place + 8 : place + 8 + length]
        place += 12 + length
    palette = np.frombuffer(found[b"PLTE"], np.uint8).reshape(-1, 3)
    rows = np.frombuffer(zlib.decompress(found[b"IDAT"]), np.uint8).reshape(shape[0], 1 + shape[1])
    return palette[rows[:, 1:]]


def test_what_browsers_do_not_make_is_refused(png: ModuleType) -> None:
    data = png.small(filtered(png, np.zeros((2, 2, 3), np.uint8)))
    with pytest.raises(ValueError, match="8 bit RGB"):
        png.decode(data)
