"""A flipped profile: every branch goes the other way (paper 002, section 6.5).

    python3 bench/flip.py PROFILE OUT.guide

Writes a guide (docs/formats/guide.md) for --fp-use in which the ways of each branch have changed their
counts: the most frequent way has the least count, and so on. It has no paths: they would contradict
the edges. Functions are told apart by their counts; those that cannot be stay as they are.
"""
import json
import os
import struct
import subprocess
import sys

import measure

MASK = (1 << 64) - 1
P1, P2, P3, P4, P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
VERSION = 3  # of the guide's form
HEAD, RECORD, COUNTS_AT = 48, 64, 48  # bytes: up to the functions, of a function, and in it the offset of its counts


def rotate(x, by):
    return (x << by | x >> (64 - by)) & MASK


def stir(lane, word):
    return rotate((lane + word * P2) & MASK, 31) * P1 & MASK


def xxh64(data):
    at, n = 0, len(data)
    if n >= 32:
        lanes = [P1 + P2 & MASK, P2, 0, -P1 & MASK]
        while at + 32 <= n:
            lanes = [stir(lane, word) for lane, word in zip(lanes, struct.unpack_from("<4Q", data, at))]
            at += 32
        h = sum(rotate(lane, by) for lane, by in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            h = ((h ^ stir(0, lane)) * P1 + P4) & MASK
    else:
        h = P5
    h = (h + n) & MASK
    for size, form, step in ((8, "<Q", lambda h, w: (rotate(h ^ stir(0, w), 27) * P1 + P4) & MASK),
                             (4, "<I", lambda h, w: (rotate(h ^ (w * P1 & MASK), 23) * P2 + P3) & MASK),
                             (1, "<B", lambda h, w: rotate(h ^ (w * P5 & MASK), 11) * P1 & MASK)):
        while at + size <= n:
            h = step(h, struct.unpack_from(form, data, at)[0])
            at += size
    for shift, factor in ((33, P2), (29, P3), (32, 1)):
        h = (h ^ h >> shift) * factor & MASK
    return h


def read_uint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def uint(value):
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes(out + bytes([value]))


def flipped(counts, sources):
    """Of the ways out of each block, the first has the count of the last."""
    new = list(counts)
    for block in set(sources):
        ways = sorted((e for e in range(len(counts)) if sources[e] == block), key=lambda e: counts[e])
        for way, other in zip(ways, reversed(ways)):
            new[way] = counts[other]
    return new


def sources_by_counts(profile):
    """{counts of a function's edges: the block that each edge leaves}; None where two functions differ in that."""
    words = [os.path.join(measure.BIN, "footpath"), "show", "--json", profile]
    shown = json.loads(subprocess.run(words, check=True, capture_output=True, text=True).stdout)
    found = {}
    for f in shown["functions"]:
        key, sources = tuple(e["count"] for e in f["edges"]), [e["from"] for e in f["edges"]]
        found[key] = sources if found.get(key, sources) == sources else None
    return found


def flip_counts(counts, sources):
    """The counts of one function, without its paths and values; what they are of stays."""
    length, at = read_uint(counts, 0)
    version_end = at = at + length
    entries, at = read_uint(counts, at)
    n, at = read_uint(counts, at)
    edges = []
    for _ in range(n):
        count, at = read_uint(counts, at)
        edges.append(count)
    known = sources.get(tuple(edges))
    new = flipped(edges, known) if known else edges
    return counts[:version_end] + b"".join(uint(v) for v in [entries, n, *new, 0, 0]), new != edges


def flip(profile, out):
    """Gives the number of functions that were flipped, and of all."""
    tool = os.path.join(measure.BIN, "footpath")
    subprocess.run([tool, "export", "--format", "guide", profile, "-o", out], check=True)
    with open(out, "rb") as f:
        guide = f.read()
    nfunctions, = struct.unpack_from("<Q", guide, 32)
    if struct.unpack_from("<I", guide, 8)[0] != VERSION or struct.unpack_from("<Q", guide, 40)[0] != xxh64(guide[HEAD:]):
        raise SystemExit("bench/flip.py: %s is no guide of a known form" % out)
    records = [bytearray(guide[HEAD + i * RECORD:HEAD + (i + 1) * RECORD]) for i in range(nfunctions)]
    end = HEAD + nfunctions * RECORD
    length_at = guide_counts(guide, end)
    counts, sources = guide[length_at + 8:], sources_by_counts(profile)
    new, changed = bytearray(), 0
    for record in records:
        at, = struct.unpack_from("<Q", record, COUNTS_AT)
        struct.pack_into("<Q", record, COUNTS_AT, len(new))
        turned, different = flip_counts(counts[at:], sources)
        new, changed = new + turned, changed + different
    rest = b"".join(records) + guide[end:length_at] + struct.pack("<Q", len(new)) + bytes(new)
    with open(out, "wb") as f:
        f.write(guide[:40] + struct.pack("<Q", xxh64(rest)) + rest)
    return changed, nfunctions


def guide_counts(guide, at):
    """Where the length of the counts is: behind the summary."""
    for _ in range(6):
        _, at = read_uint(guide, at)
    cutoffs, at = read_uint(guide, at)
    for _ in range(3 * cutoffs):
        _, at = read_uint(guide, at)
    return at


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    print("flipped %d of %d functions" % flip(sys.argv[1], sys.argv[2]))


if __name__ == "__main__":
    main()
