"""A small HTTP server on a loopback port that sends each POST to one of the simulator's plain async functions."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager

from runs_app.simulator.http_reply import HttpReply

Answer = Callable[[bytes], Awaitable[HttpReply]]


@asynccontextmanager
async def serving(answers: Mapping[str, Answer]) -> AsyncIterator[str]:
    """The base address of a server that answers the paths of `answers` under it."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin1")
        lines = head.split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        reply = await answers[lines[0].split(" ")[1]](body)
        writer.write(
            f"HTTP/1.1 {reply.status} X\r\ncontent-type: {reply.content_type}\r\n"
            f"content-length: {len(reply.body)}\r\nconnection: close\r\n\r\n".encode()
            + reply.body
        )
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(connected, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"
