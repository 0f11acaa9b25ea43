#!/usr/bin/env python3
"""Do the folders depend on each other in the one direction that ARCHITECTURE.md
states? Reads every #include of src/, tool/ and runtime/. Also: no file name and no
struct tag of ours exists twice.

    layers.py SOURCE-TREE
"""
import collections
import os
import re
import sys

CORE = ["base", "graph", "count", "profile", "paths", "combined"]
# folder -> what it may include beside itself
LAW = {folder: set(CORE[:at]) for at, folder in enumerate(CORE)}
LAW.update({
    "flags": {"base"},
    "source": {"base"},
    "p3": set(CORE[:5]),
    "guide": set(CORE),
    "store": set(CORE),
    "binary": set(CORE[:5]),
    "perf": set(CORE[:5]) | {"binary"},
    "gcov": set(CORE[:5]) | {"perf"},
    "exe": set(CORE[:5]) | {"binary"},
    "model": set(CORE) | {"source"},
    "report": set(CORE) | {"source", "model"},
    "api": set(CORE) | {"source", "model"},
    "llvm": {"base", "flags", "graph", "count"},
    "tool": set(CORE) | {"flags", "p3", "guide", "store", "binary", "perf", "gcov", "exe", "source", "model", "api", "report",
                         "tool"},
})
# single headers beyond the law: files that the compiler reads or writes
ALSO = {
    "llvm": {"profile/mapcode.h", "guide/guide.h", "guide/staleguide.h", "p3/division.h", "p3/hits.h"},
}
# the same for the rooms of runtime/; each may include rt.h, which puts their state together
ROOMS = {
    "rt.h": {"core", "threads", "exits", "pep", "exe"},
    "core": set(),
    "threads": {"core"},
    "exits": {"core"},
    "pep": {"core"},
    "standin": {"threads"},
    "exe": {"core", "exits"},
    "static": {"core", "exits"},
}
# room -> what it uses of rooms other than core: functions, and state as room.field
HOOKS = {
    # the life of a module and of a run, and what goes into a profile
    "core": set("""
        rt_threads_start rt_threads_after_fork rt_threads_forget_module rt_stop_after_fork rt_stop_forget_module
        rt_threads_set_base rt_threads_own_bias rt_threads_make_nowhere rt_with_threads_stopped rt_fold_lock rt_fold_unlock
        rt_gate_count rt_threads_span rt_threads_make_first rt_adopt_threads
        threads.regions threads.nregions threads.nowhere threads.norphans
        rt_end_at_quick_exit rt_end_watch rt_end_unwatch rt_end_forget_module rt_handlers_are_ours
        rt_has_marks rt_in_flight_now rt_in_flight_left rt_in_flight_waiting rt_in_flight_clear rt_in_flight_renew
        rt_frame_left rt_frames_left rt_place_is_certain
        rt_sample_start rt_sample_has rt_sample_before_fork rt_sample_after_fork_in_parent rt_sample_after_fork
        rt_sample_forget_module rt_sample_not_here rt_sample_point rt_history_has rt_history_put rt_history_clear
        rt_mask_forget
        rt_exe_find_ranges rt_exe_fault rt_exe_has_caught rt_exe_put_caught rt_exe_clear_caught rt_exe_unregister
        """.split()),
    # the life of a thread
    "threads": set("""
        rt_place_is_certain rt_provide_signal_stack
        rt_mask_believe rt_mask_believed rt_sample_signal rt_sample_thread_begins rt_sample_thread_ends rt_sample_count_rest
        rt_exe_early_bias rt_exe_far_steps rt_exe_shadow_thread rt_exe_widen rt_exe_is_fixed exits.guarded
        """.split()),
    "exits": {"rt_handler_begins", "rt_handler_ends", "rt_sample_signal", "rt_exe_is_fixed"},
    # signals that are not samples go back to exits; the timers lie in the table of copies
    "pep": set("""
        rt_handler_begins rt_handler_ends rt_die rt_set_action rt_is_for_us threads.regions threads.nregions
        """.split()),
    "standin": {"rt_create_thread", "rt_create_c11_thread"},
    # the base of the thread that loads a rewritten file; marks of another kind than compiled code has
    "exe": set("""
        rt_threads_any_base exits.vfork_stack
        rt_has_marks rt_identify_frame rt_place_is_certain rt_is_own_code rt_place_site rt_slot_bias
        """.split()),
    # what the calls of the kernel mean, in programs without a loader
    "static": set("""
        rt_threads_begin rt_threads_end rt_end_write exits.vfork_stack rt_before_jump
        rt_has_marks rt_frame_left rt_frames_left rt_frame_was_passed rt_frames_were_left
        rt_exe_call rt_exe_place rt_exe_is_fixed rt_exe_shadow_is_first rt_exe_shadow_new rt_exe_shadow_own
        """.split()),
}

# src/llvm within itself: room -> rooms and headers it may include; the driver, which is
# outside the rooms, all
LLVM_LAW = {
    "sense": {"sense", "shim.h"},
    "read": {"read", "sense", "shim.h"},
    "emit": {"emit", "read", "sense", "shim.h"},
    "use": {"use", "read", "sense", "shim.h"},
}


def sources(top):
    for folder, _, names in os.walk(top):
        for name in sorted(names):
            if name.endswith((".c", ".h", ".cpp")):
                yield os.path.join(folder, name)


def includes(path):
    with open(path, encoding="utf-8") as f:
        return re.findall(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]', f.read(), re.M)


def problem(folder, kind, name):
    first = name.split("/")[0]
    if name.startswith(("llvm-c/", "llvm/")) and kind == "<" and folder != "llvm":
        return "only src/llvm may see LLVM"
    if kind == "<" or "/" not in name or first == "footpath" or first == folder:
        return None
    if folder not in LAW:
        return "src/%s is not in the law (ARCHITECTURE.md, layers.py)" % folder
    if first in LAW[folder] or name in ALSO.get(folder, ()):
        return None
    return "%s may not use %s" % (folder, first)


def llvm_problem(room, name):
    """room: of src/llvm, or a file of the driver"""
    parts = name.split("/")
    if parts[0] == "llvm" and room in LLVM_LAW and parts[1] not in LLVM_LAW[room]:
        return "src/llvm/%s may not use %s" % (room, name)
    return None


def runtime_problem(room, kind, name):
    if kind == "<" or name == "rt.h" or name.startswith("footpath/"):
        return None
    first = name.split("/")[0]
    if first not in ROOMS:
        return "the runtime uses its own headers and footpath/ only"
    if first not in ROOMS[room] | {room}:
        return "runtime/%s may not use runtime/%s" % (room, first)
    return None


def without_comments(path):
    with open(path, encoding="utf-8") as f:
        return re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)


def room_of(top, path):
    return os.path.relpath(path, os.path.join(top, "runtime")).split(os.sep)[0]


def wrong_hooks(top):
    """What a room uses of another: no more and no less than HOOKS says."""
    texts = [(room_of(top, path), path, without_comments(path)) for path in sources(os.path.join(top, "runtime"))]
    owner = {name: room for room, path, text in texts if path.endswith(".h") and room != "core"
             for name in re.findall(r"^[\w *]*?\b(rt_\w+)\(", text, re.M)}
    found = {room: set() for room in ROOMS}
    for room, path, text in texts:
        calls = {name for name in re.findall(r"\brt_\w+", text) if owner.get(name, room) != room}
        fields = {name for name in re.findall(r"(?:->|\.)((?:threads|exits|pep)\.\w+)", text)
                  if not name.startswith(room + ".")}
        found[room] |= calls | fields
    for room in sorted(HOOKS):
        for name in sorted(found[room] - HOOKS[room]):
            yield "runtime/%s uses %s, which HOOKS does not list (layers.py)" % (room, name)
        for name in sorted(HOOKS[room] - found[room]):
            yield "runtime/%s does not use %s: take it out of HOOKS (layers.py)" % (room, name)


def wrong_includes(top):
    bad, count = [], 0
    for area in ("src", "tool", "runtime"):
        for path in sources(os.path.join(top, area)):
            below, room = (os.path.relpath(path, os.path.join(top, area)).split(os.sep) + [""])[:2]
            folder = below if area == "src" else area
            for kind, name in includes(path):
                count += 1
                what = runtime_problem(below, kind, name) if area == "runtime" else problem(folder, kind, name)
                if folder == "llvm" and kind == '"':
                    what = what or llvm_problem(room, name)
                if what:
                    bad.append("%s: includes %s: %s" % (os.path.relpath(path, top), name, what))
    return bad, count


def repeated(top):
    names, tags = collections.defaultdict(list), collections.defaultdict(list)
    for area in ("src", "tool", "runtime", "include"):
        for path in sources(os.path.join(top, area)):
            short = os.path.relpath(path, top)
            names[os.path.basename(path)].append(short)
            with open(path, encoding="utf-8") as f:
                for tag in re.findall(r"^(?:static |typedef )*((?:struct|union|enum) \w+)(?= \{$| \{ )", f.read(), re.M):
                    tags[tag].append(short)
    for what in (names, tags):
        for name, places in sorted(what.items()):
            if len(places) > 1:
                yield "%s exists %d times: %s" % (name, len(places), ", ".join(places))


def main():
    top = sys.argv[1]
    bad, count = wrong_includes(top)
    bad += wrong_hooks(top)
    bad += repeated(top)
    if not count:
        bad.append("nothing was read")
    print("\n".join(bad) or "%d includes go the right way; no name exists twice" % count)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
