"""Where people find a server: the address that links begin with, and the names that it answers to."""

from __future__ import annotations

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from longmark.errors import UserError

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def is_local(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class Address:
    """Where people find the server. url: what links begin with; hosts: names it answers to; secure: by TLS; proxies:
    networks of the proxies that say whose requests they pass on."""

    url: str
    hosts: frozenset[str]
    secure: bool = False
    proxies: tuple[Network, ...] = ()

    def asker(self, remote: str, forwarded: str) -> str:
        """Who asks: as a named proxy says in X-Forwarded-For, else the address that the request came from."""
        forwarded_address = forwarded.rpartition(",")[2].strip()[:60]
        try:
            is_proxy = any(ipaddress.ip_address(remote) in network for network in self.proxies)
        except ValueError:
            is_proxy = False
        return forwarded_address if is_proxy and forwarded_address else remote


def address_of(
    host: str, port: int, behind_tls: str | None = None, proxy: Sequence[str] = ()
) -> Address:
    """proxy: addresses or networks of proxies. UserError for a host that other machines reach without TLS."""
    try:
        proxies = tuple(ipaddress.ip_network(network) for network in proxy)
    except ValueError as error:
        raise UserError(
            f"--proxy: {error}; name the proxy's address, such as 127.0.0.1 or 172.17.0.0/16"
        ) from None
    if behind_tls is None:
        if not is_local(host):
            raise UserError(
                f"--host {host} can be reached from other machines, and links and labels would be sent without "
                "encryption. Use a proxy with TLS and name its address: --behind-tls https://labels.example.org"
            )
        names = ("127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host)
        host_in_url = f"[{host}]" if ":" in host else host
        return Address(
            f"http://{host_in_url}:{port}",
            frozenset(f"{name}:{port}" for name in names),
            proxies=proxies,
        )
    parts = urlsplit(behind_tls)
    local = parts.scheme == "http" and is_local(parts.hostname or "")
    if (
        not parts.hostname
        or not (parts.scheme == "https" or local)
        or parts.path.strip("/")
        or parts.query
    ):
        raise UserError(
            f"--behind-tls {behind_tls}: expected the address that people open, such as https://labels.example.org "
            "(http only for localhost, of a container whose port is published on this machine), without a path"
        )
    return Address(
        f"{parts.scheme}://{parts.netloc}", frozenset((parts.netloc.lower(),)), not local, proxies
    )
