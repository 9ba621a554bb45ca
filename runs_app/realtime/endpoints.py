"""Addresses of the services a trial talks to, and which of them are the same place.

An origin decides who may receive a secret, so the grammar here is narrower than that of the URL libraries behind it:
what two parsers could read differently (a backslash, a user name, a blank) is refused instead of guessed.
"""

from __future__ import annotations

import ipaddress
import re
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote

from scenarios_app.spec.providers import AZURE_PREVIEW

DEFAULT_PORTS = {"http": 80, "ws": 80, "https": 443, "wss": 443}
ENCRYPTED = frozenset({"https", "wss"})

# Operation paths of the OpenAI API that people paste together with the base.
_OPERATIONS = ("/audio/speech", "/audio/transcriptions", "/chat/completions", "/responses", "/realtime")

_NAME_THE_MODEL = ("model", "deployment", "call_id")

_URL = re.compile(
    r"(?P<scheme>[A-Za-z]+)://(?P<host>[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(?P<port>[0-9]{1,5}))?(?P<rest>[/?#].*)?",
    re.DOTALL,
)


class EndpointError(ValueError):
    """The text is not an address that can be opened. The message shows no query, which may hold a key."""


@dataclass(frozen=True)
class Origin:
    """Scheme, host in lower case and port: the place that a secret is bound to."""

    scheme: str
    host: str
    port: int

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        default = self.port == DEFAULT_PORTS[self.scheme]
        return f"{self.scheme}://{host}" if default else f"{self.scheme}://{host}:{self.port}"

    @property
    def encrypted(self) -> bool:
        return self.scheme in ENCRYPTED

    @property
    def loopback(self) -> bool:
        return is_loopback(self.host)


def origin(url: str) -> Origin:
    """The origin of an absolute http, https, ws or wss URL. Raises EndpointError for anything else."""
    return _split(url)[0]


def bare_origin(text: str) -> Origin:
    """The origin of an address that is nothing but one. Raises EndpointError when a path or a query follows."""
    found, rest = _split(text.strip())
    if rest not in ("", "/"):
        raise EndpointError(f"{shown(text)!r}: an origin has no path and no query, write {found}")
    return found


def is_loopback(host: str) -> bool:
    """True for `localhost` and for literal addresses of this machine. Other names are not resolved: DNS can lie."""
    bare = host.lower().strip("[]")
    if bare == "localhost" or bare.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(bare)
    except ValueError:
        return False
    mapped = getattr(address, "ipv4_mapped", None)
    return bool((mapped or address).is_loopback)


def websocket_url(endpoint: str) -> str:
    """The same address with ws for http and wss for https. Templates in the query stay as they are."""
    return _with_scheme(endpoint, {"http": "ws", "https": "wss"}, allowed=("ws", "wss"))


def http_url(endpoint: str) -> str:
    """The same address with http for ws and https for wss."""
    return _with_scheme(endpoint, {"ws": "http", "wss": "https"}, allowed=("http", "https"))


def with_model(url: str, model: str) -> str:
    """Adds `?model=` (on Azure's preview path `deployment=`) unless the query names a model already, or a call that has
    one. A fragment is dropped: no server sees it."""
    bare = url.partition("#")[0]
    base, question, query = bare.partition("?")
    if any(key in _NAME_THE_MODEL for key, _ in parse_qsl(query, keep_blank_values=True)):
        return bare
    joint = "&" if query else "?"
    key = "deployment" if base.rstrip("/").endswith(AZURE_PREVIEW) else "model"
    return f"{base}{question if query else ''}{query}{joint}{key}={quote(model, safe='')}"


def api_base_url(endpoint: str) -> str:
    """The base URL for the openai client: `https://host/v1` from that, with or without an operation behind it.

    A bare host gets `/v1`, as every compatible server has it there. A query is refused: the client would lose it.
    """
    url = http_url(endpoint)
    place, rest = _split(url)
    path, _, query = rest.partition("#")[0].partition("?")
    if query:
        raise EndpointError(f"{place}{path}: this address takes no query")
    path = path.rstrip("/")
    for operation in _OPERATIONS:
        path = path.removesuffix(operation)
    return f"{place}{path.rstrip('/') or '/v1'}"


def shown(url: str) -> str:
    """The address without user name, query and fragment, for messages and pages: each of them may hold a key."""
    return re.sub(r"//[^/@]*@", "//", re.split(r"[?#]", url, maxsplit=1)[0])


def _split(url: str) -> tuple[Origin, str]:
    if re.search(r"[\x00-\x20\x7f\\]", url):
        raise EndpointError(f"{shown(url)!r}: an address has no blanks, control characters or backslashes")
    found = _URL.fullmatch(url)
    if not found:
        raise EndpointError(f"{shown(url)!r} is not an address: {_why_not(url)}")
    scheme = found["scheme"].lower()
    if scheme not in DEFAULT_PORTS:
        raise EndpointError(f"{shown(url)!r}: {scheme} is not supported, use https, http, wss or ws")
    port = int(found["port"]) if found["port"] else DEFAULT_PORTS[scheme]
    if not 0 < port < 65536:
        raise EndpointError(f"{shown(url)!r}: port {port} does not exist")
    return Origin(scheme, _canonical_host(found["host"], url), port), found["rest"] or ""


def _why_not(url: str) -> str:
    if "://" not in url:
        return "it must start with https://, http://, wss:// or ws://"
    authority = re.split(r"[/?#]", url.partition("://")[2], maxsplit=1)[0]
    if not authority:
        return "it has no host"
    if "@" in authority:
        return "a user name or password does not belong into it, use a header"
    if not authority.isascii():
        return "write the host in its ASCII form (xn--...)"
    return "its host or port cannot be read"


def _canonical_host(host: str, url: str) -> str:
    if not host.startswith("["):
        return host.lower()
    try:
        return ipaddress.IPv6Address(host[1:-1]).compressed
    except ValueError as error:
        raise EndpointError(f"{shown(url)!r}: {host} is not an IPv6 address") from error


def _with_scheme(endpoint: str, changes: dict[str, str], *, allowed: tuple[str, ...]) -> str:
    scheme, separator, rest = endpoint.strip().partition("://")
    new = changes.get(scheme.lower(), scheme.lower())
    if not separator or new not in allowed:
        raise EndpointError(
            f"{shown(endpoint)!r} is not an address: it must start with https://, http://, wss:// or ws://"
        )
    # Only that there is a host: the query may still hold templates, so the rest is checked once it is rendered.
    if not rest or rest[0] in "/?#":
        raise EndpointError(f"{shown(endpoint)!r} is not an address: it has no host")
    return f"{new}://{rest}"
