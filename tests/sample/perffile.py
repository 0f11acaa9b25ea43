"""perf.data files in the form of the real tool: header, attributes, records, features.

    file = File([Event("cycles", IP | TID | TIME)])
    file.mapping("/bin/true", 0x400000, 0x1000)
    file.sample(0, ip=0x400123, pid=1, time=5)
    open(path, "wb").write(file.bytes())

Layouts: include/uapi/linux/perf_event.h (PERF_RECORD_SAMPLE) and tools/perf/Documentation/
perf.data-file-format.txt of Linux. IBS: the raw bytes that the driver of Linux saves. SPE: packets
of Arm's architecture reference manual, D10.
"""
import struct

(IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH_STACK, REGS_USER, STACK_USER, WEIGHT, DATA_SRC,
 IDENTIFIER, TRANSACTION, REGS_INTR, PHYS_ADDR, AUX, CGROUP, DATA_PAGE_SIZE, CODE_PAGE_SIZE, WEIGHT_STRUCT) = (1 << k for k in range(25))
BRANCH_ANY, BRANCH_HW_INDEX, BRANCH_COUNTERS = 1 << 3, 1 << 17, 1 << 19
USER, EXACT_IP = 2, 1 << 14
ATTR_SIZE = 128
ARCH, CPUID, EVENT_DESC, PMU_MAPPINGS, AUXTRACE = 6, 9, 12, 16, 18
REGISTERS = 0xff0fff  # those that x86 has of the first 24


class Event:
    def __init__(self, name, fields, kind=0, config=0, period=1000, precise=0, branches=0, read_format=0, registers=REGISTERS, stack=64):
        self.name, self.fields, self.kind, self.config, self.period = name, fields, kind, config, period
        self.precise, self.branches, self.read_format = precise, branches, read_format
        self.registers, self.stack = registers, stack

    def attr(self):
        flags = self.precise << 15 | 1 << 18  # sample_id_all
        user, intr = (self.registers if self.fields & REGS_USER else 0), (REGISTERS if self.fields & REGS_INTR else 0)
        stack = self.stack if self.fields & STACK_USER else 0
        return struct.pack("<IIQQQQQIIQQQQIiQIHHIIQ", self.kind, ATTR_SIZE, self.config, self.period, self.fields, self.read_format,
                           flags, 0, 0, 0, 0, self.branches, user, stack, 0, intr, 0, 0, 0, 0, 0, 0)


def text(words):
    """A string of a feature: its padded length, then its bytes."""
    raw = words.encode() + b"\0"
    raw += bytes(-len(raw) % 64)
    return struct.pack("<I", len(raw)) + raw


def record(kind, body, misc=USER):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


class File:
    def __init__(self, events, kinds=(), arch="x86_64", cpu="GenuineIntel,6,85,7"):
        self.events, self.kinds, self.arch, self.cpu = events, kinds, arch, cpu
        self.records = b""

    def add(self, kind, body, misc=USER, behind=b""):
        self.records += record(kind, body, misc) + behind

    def identity(self, event, pid, tid, time):
        """What is behind every record that is no sample: sample_id_all."""
        fields, body = event.fields, b""
        for field, form, values in ((TID, "<II", (pid, tid)), (TIME, "<Q", (time,)), (ID, "<Q", (1,)), (STREAM_ID, "<Q", (1,)),
                                    (CPU, "<II", (0, 0)), (IDENTIFIER, "<Q", (1,))):
            if fields & field:
                body += struct.pack(form, *values)
        return body

    def mapping(self, path, start, length, pid=1, time=0):
        name = path.encode() + b"\0"
        body = struct.pack("<IIQQQIIQQII", pid, pid, start, length, 0, 0, 0, 0, 0, 5, 2) + name + bytes(-len(name) % 8)
        self.add(10, body + self.identity(self.events[0], pid, pid, time))

    def command(self, name, pid=1, time=0):
        raw = name.encode() + b"\0"
        self.add(3, struct.pack("<II", pid, pid) + raw + bytes(-len(raw) % 8) + self.identity(self.events[0], pid, pid, time))

    def sample(self, number, ip, pid=1, time=0, period=None, raw=b"", branches=(), misc=USER, registers=None, stack=(b"s" * 64, 32)):
        """registers: their kind (0: none, 1: of 32 bits, 2: of 64) and values; stack: bytes, and how many of them are filled."""
        event = self.events[number]
        fields, body = event.fields, b""

        def put(field, form, *values):
            nonlocal body
            if fields & field:
                body += struct.pack("<" + form, *values)
        put(IDENTIFIER, "Q", number + 1)
        put(IP, "Q", ip)
        put(TID, "II", pid, pid)
        put(TIME, "Q", time)
        put(ADDR, "Q", 0xdada)
        put(ID, "Q", number + 1)
        put(STREAM_ID, "Q", number + 1)
        put(CPU, "II", 3, 0)
        put(PERIOD, "Q", event.period if period is None else period)
        if fields & READ:
            times, own = [500] * bin(event.read_format & 3).count("1"), [77] + [number + 1] * (event.read_format >> 2 & 1)
            values = [1] + times + own if event.read_format & 8 else [77] + times + own[1:]
            body += struct.pack("<%dQ" % len(values), *values)
        put(CALLCHAIN, "QQQ", 2, ip, ip + 16)
        if fields & RAW:
            padded = raw + bytes(-(len(raw) + 4) % 8)
            body += struct.pack("<I", len(padded)) + padded
        if fields & BRANCH_STACK:
            body += struct.pack("<Q", len(branches)) + (struct.pack("<q", -1) if event.branches & BRANCH_HW_INDEX else b"")
            body += b"".join(struct.pack("<QQQ", *branch) for branch in branches)
            body += bytes(8 * len(branches)) if event.branches & BRANCH_COUNTERS else b""
        kind, values = registers or (2, range(bin(event.registers).count("1")))
        put(REGS_USER, "Q%dQ" % len(values), kind, *values)
        put(STACK_USER, "Q%dsQ" % len(stack[0]) if stack[0] else "Q", len(stack[0]), *(stack if stack[0] else ()))
        put(WEIGHT, "Q", 12)
        put(WEIGHT_STRUCT, "IHH", 12, 3, 4)
        put(DATA_SRC, "Q", 0x68100142)
        put(TRANSACTION, "Q", 0)
        number = bin(REGISTERS).count("1")
        put(REGS_INTR, "Q%dQ" % number, 2, *range(number))
        put(PHYS_ADDR, "Q", 0x123456000)
        put(CGROUP, "Q", 9)
        put(DATA_PAGE_SIZE, "Q", 4096)
        put(CODE_PAGE_SIZE, "Q", 4096)
        put(AUX, "Q8s", 8, b"auxiliar")
        self.add(9, body, misc)

    def trace(self, data, tid=0xffffffff, cpu=0):
        """PERF_RECORD_AUXTRACE: the trace is behind the record."""
        data += bytes(-len(data) % 8)
        self.add(71, struct.pack("<QQQIIII", len(data), 0, 0, 0, tid, cpu, 0), 0, data)

    def features(self):
        described = struct.pack("<II", len(self.events), ATTR_SIZE)
        for number, event in enumerate(self.events):
            raw = event.name.encode() + b"\0"
            raw += bytes(-len(raw) % 64)
            described += event.attr() + struct.pack("<II", 1, len(raw)) + raw + struct.pack("<Q", number + 1)
        kinds = struct.pack("<I", len(self.kinds)) + b"".join(struct.pack("<I", number) + text(name) for number, name in self.kinds)
        return {ARCH: text(self.arch), CPUID: text(self.cpu), EVENT_DESC: described, PMU_MAPPINGS: kinds}

    def bytes(self):
        ids = 104
        attrs = ids + 8 * len(self.events)
        entry = ATTR_SIZE + 16
        start = attrs + entry * len(self.events)
        features = self.features()
        bits = sum(1 << k for k in features)
        head = b"PERFILE2" + struct.pack("<8Q", 104, entry, attrs, entry * len(self.events), start, len(self.records), 0, 0)
        head += struct.pack("<4Q", bits, 0, 0, 0)
        body = b"".join(struct.pack("<Q", k + 1) for k in range(len(self.events)))
        for k, event in enumerate(self.events):
            body += event.attr() + struct.pack("<QQ", ids + 8 * k, 8)
        at = start + len(self.records) + 16 * len(features)
        table, tail = b"", b""
        for k in sorted(features):
            table += struct.pack("<QQ", at + len(tail), len(features[k]))
            tail += features[k]
        return head + body + self.records + table + tail


# ---- IBS ----

def ibs_op(rip, target=0, branch=False, taken=False, missed=False, valid=True, invalid_rip=False, caps=0x81bff):
    """The raw bytes of a sample of ibs_op: capabilities, then the registers."""
    control = 1 << 17 | (1 << 18 if valid else 0) | 0x1000
    data = taken << 35 | missed << 36 | branch << 37 | invalid_rip << 38 | 40 | 90 << 16
    registers = [control, rip, data, 3, 0, 0, 0]
    if caps & 1 << 5:
        registers.append(target)
    return struct.pack("<I%dQ" % len(registers), caps, *registers)


# ---- SPE ----

def spe_address(index, address, level=0):
    return struct.pack("<BQ", 0xb0 | index, address & (1 << 56) - 1 | level << 61)


def spe_op(pc, target=None, events=2, context=None, ticks=None, level=0):
    """One record, in the order that processors write them."""
    out = spe_address(0, pc, level)
    out += struct.pack("<BI", 0x64, context) if context is not None else b""
    out += struct.pack("<BB", 0x4a if target is not None else 0x49, 1)  # the type of the operation
    out += struct.pack("<BH", 0x52, events)
    out += struct.pack("<BH", 0x98, 17)  # a latency
    out += spe_address(1, target, level) if target is not None else b""
    out += struct.pack("<BQ", 0x71, ticks) if ticks is not None else b"\x01"
    return out
