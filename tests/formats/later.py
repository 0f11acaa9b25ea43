#!/usr/bin/env python3
"""What docs/formats/README.md promises about files of later versions.

    later.py --bin BUILD/bin --dump BUILD/.../dump-formats [--case NAME]...

Golden files are changed into what a later footpath might write.
"""
import os
import struct
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
from golden import Reader  # noqa: E402
from harness import equal, expect  # noqa: E402

PRIMES = (11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261)
WORD = (1 << 64) - 1
HEADER, COMMITS, RECORD = 64, (16, 32), struct.Struct("<IIQQ")
MAGIC, RUN, UNKNOWN = 0x43525046, 1, 77


def rotate(x, by):
    return (x << by | x >> 64 - by) & WORD


def mix(lane, word):
    return rotate((lane + word * PRIMES[1]) & WORD, 31) * PRIMES[0] & WORD


def checksum(data):
    """XXH64 with seed 0."""
    whole = len(data) // 32 * 32
    lanes = [(PRIMES[0] + PRIMES[1]) & WORD, PRIMES[1], 0, -PRIMES[0] & WORD]
    for words in struct.iter_unpack("<4Q", data[:whole]):
        lanes = [mix(lane, word) for lane, word in zip(lanes, words)]
    h = PRIMES[4]
    if whole:
        h = sum(rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18))) & WORD
        for lane in lanes:
            h = ((h ^ mix(0, lane)) * PRIMES[0] + PRIMES[3]) & WORD
    h, at = (h + len(data)) & WORD, whole
    while at + 8 <= len(data):
        h = (rotate(h ^ mix(0, struct.unpack_from("<Q", data, at)[0]), 27) * PRIMES[0] + PRIMES[3]) & WORD
        at += 8
    if at + 4 <= len(data):
        h = (rotate(h ^ struct.unpack_from("<I", data, at)[0] * PRIMES[0] & WORD, 23) * PRIMES[1] + PRIMES[2]) & WORD
        at += 4
    for byte in data[at:]:
        h = rotate(h ^ byte * PRIMES[4] & WORD, 11) * PRIMES[0] & WORD
    for by, prime in ((33, PRIMES[1]), (29, PRIMES[2])):
        h = (h ^ h >> by) * prime & WORD
    return h ^ h >> 32


def records(data):
    """(type, payload) of a profile, each with its checksum checked."""
    at, end = HEADER, max(struct.unpack_from("<Q", data, c)[0] for c in COMMITS)
    while at < end:
        magic, kind, length, check = RECORD.unpack_from(data, at)
        payload = data[at + RECORD.size:at + RECORD.size + length]
        equal((magic, check), (MAGIC, checksum(payload)), "record at %d" % at)
        yield kind, payload
        at += RECORD.size + length


def profile(header, parts):
    """A profile of these records."""
    body = b"".join(RECORD.pack(MAGIC, kind, len(payload), checksum(payload)) + payload for kind, payload in parts)
    commit = struct.pack("<QI", HEADER + len(body), 1)
    commit += struct.pack("<I", checksum(commit) & 0xffffffff)
    return header[:16] + commit + bytes(16) + header[48:HEADER] + body


def numbers(data, at, version, oldest):
    """The same file with these numbers in its header."""
    return data[:at] + struct.pack("<II", version, oldest) + data[at + 8:]


def shown(b, name):
    return b.tool("show", "--json", name, silent=True).stdout


def case_newer_that_may_be_read(b):
    b.write("later.prof", numbers(b.read("alone.prof"), 8, 9, 1))
    equal(shown(b, "later.prof"), shown(b, "alone.prof"), "a later version with the same oldest reader")


def case_unknown_record_and_longer_run(b):
    data = b.read("alone.prof")
    parts = [(kind, payload + b"more" if kind == RUN else payload) for kind, payload in records(data)]
    b.write("later.prof", profile(data, [(UNKNOWN, b"unknown")] + parts + [(UNKNOWN, b"")]))
    equal(shown(b, "later.prof"), shown(b, "alone.prof"), "unknown records, and runs with more fields")


def case_too_new(b):
    """Each format says that the file is too new."""
    b.write("later.prof", numbers(b.read("alone.prof"), 8, 9, 9))
    expect("newer footpath" in b.tool("show", "later.prof", status=1).stderr, "a profile that is too new")
    b.write("later.cp", numbers(b.read("combined.cp"), 8, 9, 9))
    expect("newer footpath" in b.tool("show", "later.cp", status=1).stderr, "a combined profile that is too new")
    for name, words in (("paths.division", ["division"]), ("values.guide", ["guide"])):
        b.write("later", numbers(b.read(name), 8, 9, 9))
        done = b.run(b.args.dump, *words, "later", *(["values.elf"] if words == ["guide"] else []), status=1)
        expect("newer footpath" in done.stderr, name + " that is too new: " + done.stderr)


def case_map_too_new(b):
    """The version is the first byte of the payload of a record."""
    data, at = bytearray(b.read("plain.elf")), -1
    while (at := data.find(b"fpm1", at + 1)) >= 0:
        length, check = struct.unpack_from("<IQ", data, at + 4)
        if check == checksum(bytes(data[at + 32:at + 32 + length])):
            data[at + 32] = 99
            struct.pack_into("<Q", data, at + 8, checksum(bytes(data[at + 32:at + 32 + length])))
    b.write("later.elf", bytes(data))
    done = b.tool("show", "--binary", "later.elf", "plain.prof", status=1)
    expect("got 99, which needs a newer footpath" in done.stderr, "a map that is too new: " + done.stderr)


def case_running_beside_a_newer_file(b):
    """A program leaves such a file alone and writes beside it."""
    b.write("p.c", "int main(int argc, char **argv) { return argc > 5; }\n")
    b.cc("p.c", "-o", "p")
    newer = numbers(b.read("alone.prof"), 8, 9, 9)
    b.write("footpath.prof", newer)
    b.run("./p")
    equal(b.read("footpath.prof"), newer, "the newer file")
    beside = [name for name in os.listdir(b.folder) if name.startswith("footpath.prof.")]
    equal(len(beside), 1, "files beside it")
    expect('"main"' in shown(b, beside[0]), "what the program wrote")


if __name__ == "__main__":
    harness.main(__doc__, ("--dump", {"type": os.path.abspath}), bench=Reader)
