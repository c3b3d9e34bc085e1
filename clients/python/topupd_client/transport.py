import http.client
import io
import socket
import time
from typing import Callable, Mapping, Optional, Tuple
from urllib.parse import urlsplit

# Larger than any listing.
MAX_ANSWER_BYTES = 8 * 2**20

# Sends a POST once, or a GET if the body is None (url, headers, body, timeout_ms). Gives the whole answer (status,
# headers by their lower-case names, body), or raises: TimeoutError if it is late.
Received = Tuple[int, Mapping[str, str], bytes]
Transport = Callable[[str, Mapping[str, str], Optional[bytes], int], Received]


def send(url: str, headers: Mapping[str, str], body: Optional[bytes], timeout_ms: int) -> Received:
    """Follows no redirection: the token is for one host, and a redirected POST may arrive changed, or twice."""
    ends_at = time.monotonic() + timeout_ms / 1000
    parts = urlsplit(url)
    kind = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=timeout_ms / 1000)
    try:
        method, path = "GET" if body is None else "POST", f"{parts.path}?{parts.query}" if parts.query else parts.path
        connection.request(method, path, body, {**headers, "Connection": "close"})
        response = http.client.HTTPResponse(_UntilDeadline(connection.sock, ends_at), method=method)  # type: ignore
        response.begin()
        received = b""
        while len(received) <= MAX_ANSWER_BYTES and (piece := response.read(65_536)):
            received += piece
        if response.length and len(received) <= MAX_ANSWER_BYTES:
            raise http.client.IncompleteRead(received, response.length)
        return response.status, {name.lower(): value for name, value in response.getheaders()}, received
    finally:
        connection.close()


class _UntilDeadline(io.RawIOBase):
    """Reads a socket until a deadline. The timeout of a socket begins again with each byte."""

    def __init__(self, sock: socket.socket, ends_at: float) -> None:
        self._sock = sock
        self._ends_at = ends_at

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError("the answer is late")
        self._sock.settimeout(left)
        return self._sock.recv_into(buffer)
