"""A store of objects that speaks S3, for tests: what pyarrow asks of one bucket, in memory, on 127.0.0.1.

Only what the tests need: no signatures are checked. `moto`, which does far more, asks for other versions of libraries
than constraints.txt has; the tests use it, too, where it is installed.
"""

from __future__ import annotations

import hashlib
import io
import threading
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import IO
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

TIME = 1_700_000_000


def environment(endpoint: str) -> dict[str, str]:
    """Return the variables that let `s3://` mean a server on this machine."""
    return {
        "AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_DEFAULT_REGION": "us-east-1", "AWS_EC2_METADATA_DISABLED": "true",
    }  # fmt: skip


class ObjectStore:
    """A server whose objects are in `objects`, by bucket and key ("bucket/key"); it ends with the block."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}
        self.order: list[str] = []  # of the objects, as they appeared
        self.refuse = ""  # uploads of keys with this text fail
        self.requests: list[str] = []
        self.uploads: dict[str, dict[int, bytes]] = {}

    def __enter__(self) -> ObjectStore:
        handler = type("Handler", (_Handler,), {"store": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def put(self, key: str, data: bytes) -> None:
        """Store an object."""
        self.objects[key] = data
        self.order.append(key)


class _Handler(BaseHTTPRequestHandler):
    store: ObjectStore
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: object) -> None:
        """Be quiet."""

    def _target(self) -> tuple[str, dict[str, str]]:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query, keep_blank_values=True).items()}
        self.store.requests.append(f"{self.command} {self.path}")
        return unquote(parts.path).lstrip("/"), query

    def _answer(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _error(self, status: int, code: str) -> None:
        self._answer(status, f"<Error><Code>{code}</Code><Message>{code}</Message></Error>".encode())

    def _body(self) -> bytes:
        """Return what was sent: in chunks of HTTP, and these again in chunks of S3, where the headers say so."""
        if self.headers.get("Transfer-Encoding") == "chunked":
            data = _from_chunks(self.rfile)
        else:
            data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        return _from_chunks(io.BytesIO(data)) if self.headers.get("Content-Encoding") == "aws-chunked" else data

    def do_HEAD(self) -> None:
        """Describe an object or a bucket."""
        key, _ = self._target()
        if "/" not in key.rstrip("/"):
            known = any(name.startswith(f"{key.rstrip('/')}/") for name in self.store.objects)
            self._answer(200 if known else 404)
        elif key in self.store.objects:
            self._object(self.store.objects[key], 200)
        else:
            self._answer(404)

    def do_GET(self) -> None:
        """Return an object, a range of one, or a list of them."""
        key, query = self._target()
        if "list-type" in query:
            self._list(key.rstrip("/"), query)
        elif key not in self.store.objects:
            self._error(404, "NoSuchKey")
        elif "Range" in self.headers:
            first, _, last = self.headers["Range"].removeprefix("bytes=").partition("-")
            data = self.store.objects[key]
            part = data[int(first) : int(last) + 1]
            self._object(part, 206, Content_Range=f"bytes {first}-{int(first) + len(part) - 1}/{len(data)}")
        else:
            self._object(self.store.objects[key], 200)

    def _object(self, data: bytes, status: int, **headers: str) -> None:
        self._answer(status, data, Last_Modified=formatdate(TIME, usegmt=True), ETag=_tag(data), **headers)

    def _list(self, bucket: str, query: dict[str, str]) -> None:
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        keys = sorted(name.removeprefix(f"{bucket}/") for name in self.store.objects if name.startswith(f"{bucket}/"))
        entries, folders = [], set()
        for key in (key for key in keys if key.startswith(prefix)):
            rest = key[len(prefix) :]
            if delimiter and delimiter in rest:
                folders.add(prefix + rest.split(delimiter)[0] + delimiter)
                continue
            size = len(self.store.objects[f"{bucket}/{key}"])
            date = "2023-11-14T22:13:20.000Z"
            entries.append(
                f"<Contents><Key>{escape(key)}</Key><Size>{size}</Size><LastModified>{date}</LastModified></Contents>"
            )
        shown = "".join(f"<CommonPrefixes><Prefix>{escape(name)}</Prefix></CommonPrefixes>" for name in sorted(folders))
        count = len(entries) + len(folders)
        body = f"<Name>{bucket}</Name><Prefix>{escape(prefix)}</Prefix><KeyCount>{count}</KeyCount>"
        body += f"<MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>{''.join(entries)}{shown}"
        self._xml("ListBucketResult", body)

    def do_PUT(self) -> None:
        """Store an object, or a part of one."""
        key, query = self._target()
        data = self._body()
        if self.store.refuse and self.store.refuse in key:
            self._error(403, "AccessDenied")
        elif "uploadId" in query:
            self.store.uploads[query["uploadId"]][int(query["partNumber"])] = data
            self._answer(200, ETag=_tag(data))
        else:
            self.store.put(key, data)
            self._answer(200, ETag=_tag(data))

    def do_POST(self) -> None:
        """Begin or complete an upload in parts, or delete several objects."""
        key, query = self._target()
        body = self._body()
        if "uploads" in query:
            number = f"upload-{len(self.store.uploads)}"
            self.store.uploads[number] = {}
            self._xml("InitiateMultipartUploadResult", f"<Key>{escape(key)}</Key><UploadId>{number}</UploadId>")
        elif "uploadId" in query:
            parts = self.store.uploads.pop(query["uploadId"])
            self.store.put(key, b"".join(parts[number] for number in sorted(parts)))
            self._xml("CompleteMultipartUploadResult", f"<Key>{escape(key)}</Key><ETag>{_tag(body)}</ETag>")
        else:
            self._error(501, "NotImplemented")

    def _xml(self, name: str, content: str) -> None:
        space = 'xmlns="http://s3.amazonaws.com/doc/2006-03-01/"'
        self._answer(200, f"<{name} {space}>{content}</{name}>".encode(), Content_Type="application/xml")

    def do_DELETE(self) -> None:
        """Remove an object, or what was uploaded of one."""
        key, query = self._target()
        if "uploadId" in query:
            self.store.uploads.pop(query["uploadId"], None)
        else:
            self.store.objects.pop(key, None)
        self._answer(204)


def _tag(data: bytes) -> str:
    return f'"{hashlib.md5(data).hexdigest()}"'


def _from_chunks(stream: IO[bytes]) -> bytes:
    """Return the bytes of chunks, each of which begins with a line of its size; what follows the last is skipped."""
    data = b""
    while size := int(stream.readline().split(b";")[0], 16):
        data += stream.read(size)
        stream.readline()
    while stream.readline().strip():  # checksums
        pass
    return data
