#!/usr/bin/env python3
"""libfootpath from Python, by ctypes alone; and as a program, a table of the functions of a
profile, or of the events of a combined one.

    footpath.py PROFILE...

The library is looked for as $FOOTPATH_LIBRARY, then where the system looks. The classes have
the names and the fields of footpath/footpath.h, which says what they mean.
"""
import ctypes
import os
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_double, c_int, c_int64, c_size_t, c_uint, c_uint32, c_uint64, c_void_p

API_VERSION = 5
NONE, NO_ID = 2**32 - 1, 2**64 - 1
STARTS, ENDS = ("entry", "edge"), ("exit", "edge", "lap", "left")
EVENTS = ("calls", "edge", "path", "path left")
TEXT = c_char_p


def struct(name, *fields):
    return type(name, (Structure,), {"_fields_": [(field, kind) for kind, names in fields for field in names.split()]})


Options = struct("Options", (POINTER(TEXT), "profiles"), (TEXT, "binary program"), (c_int, "all_programs"),
                 (TEXT, "function"), (c_int, "strict edges"))
Warning = struct("Warning", (c_int, "kind"), (TEXT, "message"))
Module = struct("Module", (TEXT, "path"), (c_void_p, "build_id_bytes"), (c_size_t, "build_id_size"),
                (c_uint64, "runs"), (TEXT, "problem"))
Summary = struct("Summary", (c_size_t, "files files_skipped functions"), (c_uint64, "runs"), (TEXT, "program"),
                 (c_int, "combined has_paths cycles inclusive"), (c_double, "cost"), (c_uint64, "path_count"),
                 (c_uint32, "bins"), (c_uint64 * 4, "events"), (c_uint64, "left_out"), (TEXT, "left_out_why"),
                 (c_int, "call_costs"))
Function = struct("Function", (TEXT, "linkage_name file"), (c_uint32, "line index"), (POINTER(Module), "module"),
                  (TEXT, "not_measured"), (c_int, "has_paths has_lines"), (c_uint32, "nblocks nedges cuts doors laps"),
                  (c_uint64, "calls possible_paths executed_paths path_count"), (c_double, "cost"), (c_uint64, "address"))
Place = struct("Place", (TEXT, "file function"), (c_uint32, "line column"), (c_uint64, "address"))
Block = struct("Block", (c_uint64, "count"), (c_uint32, "instructions"), (Place, "first last"), (c_uint32, "bytes"), (TEXT, "jump"))
Edge = struct("Edge", (c_uint32, "start end"), (c_int, "kind"), (c_uint64, "count"))  # `from` is a word of Python
Path = struct("Path", (c_uint32, "function stop"), (c_uint64, "id prefix count cycles"),
              (c_uint32, "instructions branches"), (c_double, "cost"))
Meaning = struct("Meaning", (c_int, "construct sense is_part"), (c_int64, "value"))
Step = struct("Step", (Place, "place"), (c_uint32, "block edge"), (TEXT, "branch"), (Meaning, "meaning"), (TEXT, "jump"))
Route = struct("Route", (c_int, "start end"), (c_uint32, "end_edge nblocks"), (POINTER(c_uint32), "blocks edges"),
               (c_uint32, "nsteps"), (POINTER(Step), "steps"), (c_uint32, "function"))
Call = struct("Call", (POINTER(Function), "caller callee"), (TEXT, "caller_name callee_name"), (c_uint32, "line"),
              (c_uint64, "count"), (c_double, "cost"), (c_int, "recursive"))
Event = struct("Event", (c_int, "kind"), (c_uint32, "block"), (c_uint64, "id"), (POINTER(Function), "function"),
               (c_void_p, "distribution"))
Filter = struct("Filter", (c_uint, "kinds"), (c_int, "order unseen"), (c_double, "above"))
Statistics = struct("Statistics", (c_uint64, "runs seen count least most"),
                    (c_double, "mean variance deviation variation min max lower width"), (c_uint32, "nbins"),
                    (POINTER(c_double), "weights"))


def load():
    library = ctypes.CDLL(os.environ.get("FOOTPATH_LIBRARY", "libfootpath.so.0"))
    for name, result in (("open", c_void_p), ("error", TEXT), ("warnings", POINTER(Warning)),
                         ("files", POINTER(TEXT)), ("modules", POINTER(Module)), ("functions", POINTER(Function)), ("name", TEXT),
                         ("shape", c_uint64), ("blocks", POINTER(Block)), ("edges", POINTER(Edge)), ("problem", TEXT),
                         ("branch", TEXT), ("meaning", Meaning), ("construct_name", TEXT), ("paths", POINTER(POINTER(Path))), ("hottest", POINTER(POINTER(Path))),
                         ("condition", TEXT), ("sentence", TEXT), ("changed_sources", c_size_t),
                         ("path_count", c_size_t), ("route_text", TEXT), ("events", POINTER(Event)),
                         ("callees", POINTER(Call)), ("callers", POINTER(Call)), ("inclusive", c_double),
                         ("quantile", c_double), ("above", c_double)):
        getattr(library, "footpath_" + name).restype = result
    if library.footpath_api_version() != API_VERSION:
        raise OSError("libfootpath has version %d of its API, not %d" % (library.footpath_api_version(), API_VERSION))
    return library


class Profile:
    """What a handle gives, as lists and text. `call` reaches the rest of the library."""

    def __init__(self, *names, binary=None, function=None):
        self.library = load()
        files = (TEXT * (len(names) + 1))(*[os.fsencode(name) for name in names], None)
        options = Options(profiles=files, binary=binary and os.fsencode(binary), function=function and function.encode())
        self.handle = c_void_p(self.library.footpath_open(byref(options)))
        self.status = self.call("status")
        self.error = text(self.call("error"))
        self.warnings = [text(w.message) for w in self.list("warnings")]
        self.files = [text(name) for name in self.list("files")]
        self.modules = self.list("modules")
        self.functions = self.list("functions")

    def call(self, name, *arguments):
        return getattr(self.library, "footpath_" + name)(self.handle, *arguments)

    def list(self, name, *arguments):
        count = c_size_t()
        found = self.call(name, *arguments, byref(count))
        return [found[i] for i in range(count.value)]

    def close(self):
        self.call("close")

    def summary(self):
        summary = Summary()
        self.call("summarize", byref(summary))
        return summary

    def name(self, function):
        return text(self.call("name", byref(function)))

    def paths(self, function):
        return [p.contents for p in self.list("paths", byref(function))]

    def hottest(self, most=0):
        return [p.contents for p in self.list("hottest", c_size_t(most))]

    def blocks(self, function):
        found = self.call("blocks", byref(function))
        return [found[i] for i in range(function.nblocks)] if found else None

    def edges(self, function):
        found = self.call("edges", byref(function))
        return [found[i] for i in range(function.nedges)] if found else None

    def branch(self, function, edge):
        return text(self.call("branch", byref(function), c_uint32(edge)))

    def meaning(self, function, edge):
        return self.call("meaning", byref(function), c_uint32(edge))

    def condition(self, function, edge):
        """The condition as it is written in the source, or None."""
        found = self.call("condition", byref(function), c_uint32(edge))
        return None if found is None else text(found)

    def decode(self, path):
        """The route, or None. It lives until the next one is decoded."""
        route = Route()
        return route if self.call("decode", byref(path), byref(route)) else None

    def route_text(self, route):
        return text(self.call("route_text", byref(route)))

    def sentence(self, route):
        return text(self.call("sentence", byref(route)))

    def callees(self, function):
        return self.list("callees", byref(function))

    def callers(self, function):
        return self.list("callers", byref(function))

    def inclusive(self, function):
        return self.call("inclusive", byref(function))

    def events(self, kinds=0, order=0, unseen=False, above=-1.0):
        return self.list("events", byref(Filter(kinds, order, unseen, above)))

    def statistics(self, event):
        statistics = Statistics()
        self.library.footpath_measure(byref(event), byref(statistics))
        return statistics

    def quantile(self, event, q):
        return self.library.footpath_quantile(byref(event), c_double(q))


def text(value):
    return None if value is None else value.decode(errors="replace")


def build_id(module):
    return ctypes.string_at(module.build_id_bytes, module.build_id_size).hex() if module.build_id_size else ""


def main(names):
    profile = Profile(*names)
    for message in profile.warnings + ([profile.error] if profile.error else []):
        print("footpath.py: " + message, file=sys.stderr)
    for module in profile.modules:
        print("%s  build-id %s  %d runs" % (text(module.path), build_id(module), module.runs))
    for event in profile.events(order=3)[:20]:
        statistics = profile.statistics(event)
        print("%9.4g +- %-9.4g in %d of %d runs  %s %s %d" % (
            statistics.mean, statistics.deviation, statistics.seen, statistics.runs,
            profile.name(event.function.contents), EVENTS[event.kind], event.id))
    for path in profile.hottest(20):
        function, route = profile.functions[path.function], profile.decode(path)
        print("%12d  %s  %s" % (path.count, profile.name(function), profile.sentence(route)))
    status = profile.status
    profile.close()
    return 1 if status else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]) if len(sys.argv) > 1 else __doc__)
