"""Screenshots made small: a palette of 256 colours, and the nearest of them for the rest."""

from __future__ import annotations

import struct
import zlib

import numpy as np
from numpy.typing import NDArray

FREQUENT = 160  # of the 256
SIGNATURE = b"\x89PNG\r\n\x1a\n"
Bytes = NDArray[np.uint8]


def small(png: bytes) -> bytes:
    """The same picture with a palette. Takes what browsers make: 8 bits, RGB or RGBA, not interlaced."""
    pixels = decode(png)
    height, width, _ = pixels.shape
    colours, which, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True)
    kept = chosen(colours, counts)
    palette = colours[kept]
    nearest = np.stack([distances(colours, one) for one in palette]).argmin(axis=0).astype(np.uint8)
    indices = nearest[which.reshape(-1)].reshape(height, width)
    rows = np.concatenate([np.zeros((height, 1), np.uint8), indices], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = {b"IHDR": header, b"PLTE": palette.tobytes(), b"IDAT": zlib.compress(rows.tobytes(), 9), b"IEND": b""}
    return SIGNATURE + b"".join(chunk(name, data) for name, data in parts.items())


def chosen(colours: Bytes, counts: NDArray[np.intp]) -> list[int]:
    """Most are those used most; the rest is for what these miss, or a small logo would turn grey."""
    kept = [int(one) for one in np.argsort(-counts, kind="stable")[:FREQUENT]]
    missed = np.stack([distances(colours, colours[one]) for one in kept]).min(axis=0)
    while len(kept) < min(256, len(colours)):
        kept.append(int((missed * np.sqrt(counts)).argmax()))
        missed = np.minimum(missed, distances(colours, colours[kept[-1]]))
    return kept


def distances(colours: Bytes, one: Bytes) -> NDArray[np.int32]:
    return np.asarray(((colours.astype(np.int32) - one.astype(np.int32)) ** 2).sum(axis=1), np.int32)


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def decode(png: bytes) -> Bytes:
    """Height x width x RGB."""
    place, data, header = len(SIGNATURE), b"", (0, 0, 0, 0, 0, 0, 0)
    while place < len(png):
        length, name = struct.unpack(">I4s", png[place : place + 8])
        body = png[place + 8 : place + 8 + length]
        if name == b"IHDR":
            header = struct.unpack(">IIBBBBB", body)
        elif name == b"IDAT":
            data += body
        place += 12 + length
    width, height, depth, kind, *_, interlaced = header
    if depth != 8 or kind not in (2, 6) or interlaced:
        raise ValueError("only 8 bit RGB and RGBA, not interlaced")
    channels = 3 if kind == 2 else 4
    rows = np.frombuffer(zlib.decompress(data), np.uint8).reshape(height, 1 + width * channels)
    before = np.zeros(width * channels, np.uint8)
    plain = np.empty((height, width * channels), np.uint8)
    for number, row in enumerate(rows):
        plain[number] = before = unfiltered(int(row[0]), row[1:], before, channels)
    return plain.reshape(height, width, channels)[:, :, :3]


def unfiltered(kind: int, row: Bytes, above: Bytes, step: int) -> Bytes:
    """One row of PNG's five filters; those that look left go pixel by pixel."""
    if kind == 0:
        return row
    if kind == 2:
        return row + above
    if kind == 1:
        return np.cumsum(row.reshape(-1, step), axis=0, dtype=np.uint8).reshape(-1)
    left, out, up = [0] * step, row.tolist(), above.tolist()
    corner = [0] * step
    for i, value in enumerate(out):
        a, b, c = left[i % step], up[i], corner[i % step]
        out[i] = (value + ((a + b) // 2 if kind == 3 else paeth(a, b, c))) & 255
        left[i % step], corner[i % step] = out[i], b
    return np.array(out, np.uint8)


def paeth(a: int, b: int, c: int) -> int:
    to_a, to_b, to_c = abs(b - c), abs(a - c), abs(a + b - 2 * c)
    if to_a <= to_b and to_a <= to_c:
        return a
    return b if to_b <= to_c else c
