"""Programs of the system do the same when they are rewritten: what they print, their status, and no trap.

choose() gives programs of /usr/bin, spread over all of them; Trial runs one of them as it is and rewritten, at one place.
"""
import os
import re
import shutil
import stat
import subprocess

FOLDER = "/usr/bin"
MOST_BYTES = 12 << 20  # larger ones take long
WAYS = ("--version", "--help")
SECONDS = 20  # after which a program is one that does not end by itself
PATIENCE = 600  # with a rewritten one, whose program ended within that: for what is stuck, not for what is slow


def is_program(path):
    """An ELF file that is linked dynamically, with unwind tables (Free Pascal makes none), and not set-user-id."""
    mode = os.stat(path).st_mode
    if not stat.S_ISREG(mode) or mode & (stat.S_ISUID | stat.S_ISGID) or not mode & 0o111 or os.path.getsize(path) > MOST_BYTES:
        return False
    with open(path, "rb") as f:
        data = f.read()
    if data[:6] != b"\x7fELF\x02\x01" or data[18:20] != b"\x3e\x00" or b"ld-linux-x86-64" not in data[:4096]:
        return False
    sections = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout
    found = re.search(r"\.eh_frame +\S+ +\w+ \w+ (\w+)", sections)
    return bool(found) and int(found.group(1), 16) > 64


def choose(count):
    """The same ones each time on one system. Programs that lie elsewhere look for their files there."""
    found = {}
    for name in sorted(os.listdir(FOLDER)):
        path = os.path.realpath(os.path.join(FOLDER, name))
        if os.path.dirname(path) == FOLDER and path not in found and is_program(path):
            found[path] = name
    paths = sorted(found)
    return [paths[i * len(paths) // count] for i in range(count)] if len(paths) > count else paths


class Trial:
    """One program. After run(): `said` of the program, `differ`: ways that are not the same, `chance`: ways that are not the same
    in two runs of the program itself, `caught`: traps, `refused`: why it was not rewritten."""

    def __init__(self, b, program):
        self.b, self.program, self.place = b, program, b.path("at", os.path.basename(program))
        self.differ, self.chance, self.caught, self.refused = [], [], [], ""

    def once(self, way, seconds=SECONDS):
        for folder in ("home", "cwd"):
            shutil.rmtree(self.b.path(folder), ignore_errors=True)
            os.makedirs(self.b.path(folder))
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "HOME": self.b.path("home"), "TERM": "dumb", "FOOTPATH_OUT": self.b.path("run.prof")}
        try:
            done = subprocess.run([self.place, way], env=env, cwd=self.b.path("cwd"), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, timeout=seconds, start_new_session=True)
            return done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired:
            return "too long", b"", b""

    def put(self, file):
        os.makedirs(os.path.dirname(self.place), exist_ok=True)
        if os.path.exists(self.place):
            os.unlink(self.place)
        shutil.copy(file, self.place)

    def run(self):
        self.put(self.program)
        plain = [[self.once(way) for way in WAYS] for _ in range(2)]
        done = self.b.tool("exe", self.program, "-o", self.b.path("rewritten"), status=None)
        if done.returncode:
            self.refused = done.stderr.strip()
            return self
        self.put(self.b.path("rewritten"))
        for way, one, other in zip(WAYS, *plain):
            mine = self.once(way, PATIENCE)
            if one != other or "too long" in (one[0], other[0]):
                self.chance.append(way)
            elif mine != one:
                self.differ.append("%s %s: status %s, then %s; %r, then %r" % (self.program, way, one[0], mine[0], one[1] + one[2], mine[1] + mine[2]))
        if os.path.exists(self.b.path("run.prof")):
            self.caught = re.findall(r"caught: .*", self.b.tool("info", self.b.path("run.prof"), status=None).stdout)
            os.unlink(self.b.path("run.prof"))
        return self
