"""The bytes of footpath's own files, for tests that write damaged and hostile ones.

XXH64 and zstd come from the libraries that footpath itself is linked with.
"""
import ctypes
import struct

PROFILE_HEADER = struct.Struct("<8sII" + "QII" * 2 + "QQ")
RECORD = struct.Struct("<IIQQ")
RECORD_MAGIC = 0x43525046
MAP_HEADER = struct.Struct("<IIQQQ")
RUN, MAP, COMBINED = 1, 2, 3

_xxhash = ctypes.CDLL("libxxhash.so.0").XXH64
_xxhash.restype = ctypes.c_uint64
_xxhash.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]


def checksum(data):
    return _xxhash(bytes(data), len(data), 0)


def compress(data, level=19):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_compressBound.restype = zstd.ZSTD_compress.restype = ctypes.c_size_t
    zstd.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    zstd.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    room = ctypes.create_string_buffer(zstd.ZSTD_compressBound(len(data)))
    size = zstd.ZSTD_compress(room, len(room), data, len(data), level) # before room.raw, which is a copy
    return room.raw[:size]


def uint(value):
    out = bytearray()
    while True:
        low, value = value & 0x7F, value >> 7
        out.append(low | 0x80 if value else low)
        if not value:
            return bytes(out)


def string(text):
    text = text if isinstance(text, bytes) else text.encode()
    return uint(len(text)) + text


def record(kind, payload):
    return RECORD.pack(RECORD_MAGIC, kind, len(payload), checksum(payload)) + payload


def profile(records):
    """A whole file: header with its commit, then records."""
    body = b"".join(records)
    length = PROFILE_HEADER.size + len(body)
    check = checksum(struct.pack("<QI", length, 1)) & 0xFFFFFFFF
    return PROFILE_HEADER.pack(b"footpath", 1, 1, length, 1, check, 0, 0, 0, 0, 0) + body


def records(data):
    """(type, payload) of each record of a profile."""
    at = PROFILE_HEADER.size
    while at + RECORD.size <= len(data):
        _, kind, length, _ = RECORD.unpack_from(data, at)
        yield kind, data[at + RECORD.size:at + RECORD.size + length]
        at += RECORD.size + length


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, n):
        self.at += n
        return self.data[self.at - n:self.at]

    def uint(self):
        value = shift = 0
        while True:
            byte = self.data[self.at]
            self.at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if not byte & 0x80:
                return value

    def string(self):
        return self.take(self.uint())


class Run:
    """A run record, in fields that a test may change before it writes them again."""

    def __init__(self, payload):
        r = Reader(payload)
        self.flags, self.id = r.uint(), r.take(8)
        self.runs, self.start, self.end, self.pid = r.uint(), r.uint(), r.uint(), r.uint()
        self.host, self.program, self.folder = r.string(), r.string(), r.string()
        self.args = [r.string() for _ in range(r.uint())]
        self.path, self.build_id = r.string(), r.string()
        self.address, self.size, self.tables_address, self.tables_size = r.uint(), r.uint(), r.uint(), r.uint()
        self.counters, index = [], 0
        for _ in range(r.uint()):
            index += r.uint()
            self.counters.append((index, r.uint()))
        self.rest = payload[r.at:]

    def encode(self):
        out = [uint(self.flags), self.id, uint(self.runs), uint(self.start), uint(self.end), uint(self.pid),
               string(self.host), string(self.program), string(self.folder), uint(len(self.args))]
        out += [string(arg) for arg in self.args]
        out += [string(self.path), string(self.build_id), uint(self.address), uint(self.size),
                uint(self.tables_address), uint(self.tables_size), uint(len(self.counters))]
        last = 0
        for index, count in self.counters:
            out += [uint(index - last), uint(count)]
            last = index
        return b"".join(out) + self.rest


def rewrite(data, change):
    """The profile with change(run) applied to each of its runs."""
    out = []
    for kind, payload in records(data):
        if kind == RUN:
            run = Run(payload)
            change(run)
            payload = run.encode()
        out.append(record(kind, payload))
    return profile(out)


def map_record(body):
    return MAP_HEADER.pack(0x316D7066, len(body), checksum(body), 0, 0) + body


def packed_header(records, size):
    return struct.pack("<IIQQ", 0x317A7066, 0, size, checksum(records))


def packed_map(records):
    """Records as a linked program has them."""
    return packed_header(records, len(records)) + compress(records, 3)


def repair_map_prefix(data):
    """Map records at the front of some bytes, with their checksums made right."""
    data, at = bytearray(data), 0
    while at + MAP_HEADER.size <= len(data):
        magic, length, _, path, edge = MAP_HEADER.unpack_from(data, at)
        if magic != 0x316D7066 or length > len(data) - at - MAP_HEADER.size:
            break
        body = data[at + MAP_HEADER.size:at + MAP_HEADER.size + length]
        MAP_HEADER.pack_into(data, at, 0x316D7066, length, checksum(body), path, edge)
        at += MAP_HEADER.size + length
    return bytes(data)


def repair_profile(data):
    """A profile with its magic, commits and checksums made right."""
    data = bytearray(data)
    if len(data) < PROFILE_HEADER.size:
        return bytes(data)
    data[:8] = b"footpath"
    for at in (16, 32):
        data[at + 12:at + 16] = struct.pack("<I", checksum(data[at:at + 12]) & 0xFFFFFFFF)
    at = PROFILE_HEADER.size
    while at + RECORD.size <= len(data):
        _, kind, length, _ = RECORD.unpack_from(data, at)
        length = min(length, len(data) - at - RECORD.size)
        body = data[at + RECORD.size:at + RECORD.size + length]
        RECORD.pack_into(data, at, RECORD_MAGIC, kind, length, checksum(body))
        at += RECORD.size + length
    return bytes(data)


# ---- perf.data ----

def perf_file(fields, body, branches=0):
    """A perf.data in pipe form: one event, its records."""
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1000, fields, 0, 0) + bytes(24) + struct.pack("<Q", branches) + bytes(32)
    return b"PERFILE2" + struct.pack("<Q", 16) + struct.pack("<IHH", 64, 0, 8 + len(attr)) + attr + body


def perf_record(kind, body, misc=2):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def perf_mapping(path, length):
    body = struct.pack("<IIQQQ", 1, 1, 0x400000, length, 0) + path.encode() + b"\0"
    return perf_record(1, body + bytes(-len(body) % 8))


IP, TID, TIME, PERIOD, BRANCHES = 1, 2, 4, 256, 2048
