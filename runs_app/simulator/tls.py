"""A certificate for this machine, made when it is first needed: for clients that insist on wss.

The folder holds `ca.pem` (what clients must trust), `cert.pem` and `key.pem`. The authority's own key is thrown away:
nobody can sign anything else with it.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
import os
import tempfile
from pathlib import Path
from typing import NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID_DAYS = 365
RENEW_DAYS = 7
_HERE = ("localhost", "127.0.0.1", "::1")


class Files(NamedTuple):
    authority: Path
    certificate: Path
    key: Path


def certificate_for(host: str, folder: Path) -> Files:
    """The files in `folder`, made anew when they are missing, nearly expired or not for `host`."""
    files = Files(folder / "ca.pem", folder / "cert.pem", folder / "key.pem")
    names = sorted({*_HERE, host})
    if not _still_good(files, names):
        folder.mkdir(parents=True, exist_ok=True)
        _make(files, names)
    return files


def _still_good(files: Files, names: list[str]) -> bool:
    try:
        leaf = x509.load_pem_x509_certificate(files.certificate.read_bytes())
        alternatives = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except (OSError, ValueError, x509.ExtensionNotFound):
        return False
    soon = dt.datetime.now(dt.UTC) + dt.timedelta(days=RENEW_DAYS)
    covered = {str(one.value) for one in alternatives} >= set(names)
    return covered and leaf.not_valid_after_utc > soon and files.authority.exists() and files.key.exists()


def _make(files: Files, names: list[str]) -> None:
    root_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    root = _authority(root_key)
    leaf = _leaf(names, key, root, root_key)
    pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
    _write(files.key, key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain))
    _write(files.certificate, leaf.public_bytes(pem))
    _write(files.authority, root.public_bytes(pem))


def _authority(key: ec.EllipticCurvePrivateKey) -> x509.Certificate:
    name = _name("Soundcheck simulator, this machine only")
    usage = x509.KeyUsage(
        digital_signature=False,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=True,
        crl_sign=True,
        encipher_only=False,
        decipher_only=False,
    )
    builder = _builder(name, name, key.public_key())
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(usage, critical=True)
    builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    return builder.sign(key, hashes.SHA256())


def _leaf(
    names: list[str], key: ec.EllipticCurvePrivateKey, root: x509.Certificate, root_key: ec.EllipticCurvePrivateKey
) -> x509.Certificate:
    builder = _builder(_name("Soundcheck simulator"), root.subject, key.public_key())
    extensions: tuple[x509.ExtensionType, ...] = (
        x509.SubjectAlternativeName([_general_name(name) for name in names]),
        x509.BasicConstraints(ca=False, path_length=None),
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]),
        x509.AuthorityKeyIdentifier.from_issuer_public_key(root_key.public_key()),
        x509.SubjectKeyIdentifier.from_public_key(key.public_key()),
    )
    for extension in extensions:
        builder = builder.add_extension(extension, critical=False)
    return builder.sign(root_key, hashes.SHA256())


def _builder(subject: x509.Name, issuer: x509.Name, public_key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(public_key)
    builder = builder.serial_number(x509.random_serial_number())
    # From an hour ago: the clock of a container may be a little behind.
    return builder.not_valid_before(now - dt.timedelta(hours=1)).not_valid_after(now + dt.timedelta(days=VALID_DAYS))


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _write(path: Path, data: bytes) -> None:
    """All or nothing, and readable by its owner alone."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as file:
        file.write(data)
    Path(name).replace(path)
