#!/usr/bin/env python3
"""Programs with more rights than their user, and users who want to use that.

    privileged.py --bin BUILD/bin [--llvm 19] [--case NAME]...

A set-user-id program, a set-group-id one and one with a file capability are run by an unprivileged
user (4001, who has no name) with every variable of ours set, in folders with links in wait. Nothing may
be written but what --fp-out names. Then ordinary programs among files of others. Needs root, to make
such users and files; the cases are skipped where there is none.
"""
import json
import os
import shutil
import stat
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import harness  # noqa: E402
from harness import Failure, Skipped, equal, expect  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
USER, OTHER, GROUP = 4001, 4003, 4002


class Bench(harness.Bench):
    def __init__(self, args, folder):
        super().__init__(args, folder)
        if os.geteuid():
            raise Skipped("needs root to make users and set-user-id programs")
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            raise Skipped("%s takes no set-user-id programs" % folder)
        os.chmod(folder, 0o755)
        self.root = self.make_folder("root", 0, 0o755)  # where only root may write

    def make_folder(self, name, owner, mode):
        path = self.path(name)
        shutil.rmtree(path, ignore_errors=True)
        os.mkdir(path)
        os.chown(path, owner, owner)
        os.chmod(path, mode)
        return path

    def build(self, name, *flags):
        exe = self.path(name)
        if os.path.exists(exe):  # with other rights than those it is about to get
            os.rename(exe, exe + ".old")
            return shutil.copyfile(exe + ".old", exe) and os.chmod(exe, 0o755) or exe
        self.cc("-O1", *flags, os.path.join(HERE, "asks.c"), "-o", exe)
        return exe

    def as_user(self, exe, cwd, *words, user=USER, umask=0, out=None, all_set=True):
        env = dict(PATH=os.environ["PATH"])
        if out:
            env["FOOTPATH_OUT"] = out
        if out and all_set:
            env.update(FOOTPATH_LOG="1", FOOTPATH_DUMP_SECONDS="0.001", FOOTPATH_DUMP_SIGNAL="USR2")

        def become():
            os.umask(umask)
            if user:
                os.setgroups([])
                os.setgid(user)
                os.setuid(user)
        done = subprocess.run([exe, *words], cwd=cwd, env=env, preexec_fn=become, capture_output=True, text=True)
        expect(done.returncode == 7, "ended with %d: %s" % (done.returncode, done.stderr))
        return done.stderr

    def everything(self):
        """All files below: what they are and what is in them."""
        found = {}
        for folder, folders, files in os.walk(self.folder):
            for name in files:
                path = os.path.join(folder, name)
                info = os.lstat(path)
                content = open(path, "rb").read() if stat.S_ISREG(info.st_mode) else None
                found[path] = (info.st_mode, info.st_uid, info.st_size, content)
        return found

    def nothing_written(self, *run, **settings):
        before = self.everything()
        said = self.as_user(*run, **settings)
        after = self.everything()
        if after != before:
            changed = sorted(p for p in set(before) | set(after) if before.get(p) != after.get(p))
            raise Failure("written: %s" % changed)
        return said

    def runs(self, profile):
        done = self.tool("info", "--json", profile, status=None)
        return sum(m["runs"] for m in json.loads(done.stdout)["modules"]) if done.returncode == 0 else 0

    def expect(self, profile, runs, owner, mode):
        info = os.lstat(profile)
        got = (self.runs(profile), info.st_uid, stat.S_IMODE(info.st_mode))
        equal(got, (runs, owner, mode), "%s: runs, owner, mode" % profile)


def set_user_id(exe):
    os.chmod(exe, 0o4755)


def set_group_id(exe):
    os.chown(exe, 0, GROUP)
    os.chmod(exe, 0o2755)


def give_capability(exe):
    """To bind to ports below 1024."""
    os.setxattr(exe, "security.capability", struct.pack("<5I", 0x02000001, 1 << 10, 0, 0, 0))


RIGHTS = (set_user_id, set_group_id, give_capability)


def case_hostile_environment(b):
    home = b.make_folder("home", USER, 0o755)
    open_to_group = b.make_folder("group", 0, 0o775)
    os.chown(open_to_group, 0, GROUP)
    for give in RIGHTS:
        exe = b.build("plain")
        give(exe)
        for out in (b.root + "/x.sh", open_to_group + "/x.sh", home + "/x.prof", "x.prof", "/dev/stdout"):
            said = b.nothing_written(exe, home, out=out)
            if said:
                raise Failure("%s: said %s" % (give.__name__, said))
        b.nothing_written(exe, home)


def case_links_in_the_working_folder(b):
    home = b.make_folder("home", USER, 0o755)
    os.symlink(b.root + "/made.sh", home + "/footpath.prof")
    for give in RIGHTS:
        exe = b.build("plain")
        give(exe)
        b.nothing_written(exe, home)
        b.nothing_written(exe, home, "name", "footpath.prof")


def case_compiled_in(b):
    home = b.make_folder("home", USER, 0o755)
    kept = b.make_folder("kept", 0, 0o755)
    exe = b.build("baked", "--fp-out=" + kept + "/%b.prof")
    set_user_id(exe)
    for _ in range(2):
        b.as_user(exe, home, out=b.root + "/x.sh")
    b.expect(kept + "/baked.prof", 2, 0, 0o600)
    relative = b.build("relative", "--fp-out=%b.prof")
    set_user_id(relative)
    b.nothing_written(relative, home)
    b.as_user(relative, home, "name", kept + "/said.prof")
    b.expect(kept + "/said.prof", 1, 0, 0o600)
    if os.listdir(home) or os.listdir(b.root):
        raise Failure("written: %s %s" % (os.listdir(home), os.listdir(b.root)))


def case_compiled_in_among_others(b):
    home, sticky = b.make_folder("home", USER, 0o755), b.make_folder("sticky", 0, 0o1777)
    name = sticky + "/baked.prof"
    exe = b.build("baked", "--fp-out=" + name)
    set_user_id(exe)

    def link():
        os.symlink(b.root + "/made.sh", name)
        os.lchown(name, USER, USER)

    def file():
        open(name, "w").close()
        os.chown(name, USER, USER)
        os.chmod(name, 0o666)

    def second_name():
        open(b.root + "/empty", "w").close()
        os.link(b.root + "/empty", name)

    def own_link():
        os.symlink(b.root + "/made.sh", name)
    for put in (link, file, second_name, own_link, lambda: os.mkfifo(name)):
        put()
        if "footpath: " not in b.nothing_written(exe, home):
            raise Failure("refused in silence")
        os.unlink(name)
    os.unlink(b.root + "/empty")
    b.as_user(exe, home)
    b.expect(name, 1, 0, 0o600)


def case_modes(b):
    home, exe = b.make_folder("home", USER, 0o755), b.build("plain")
    for umask, mode in ((0, 0o666), (0o27, 0o640), (0o77, 0o600)):
        name = home + "/%o.prof" % umask
        b.as_user(exe, home, umask=umask, out=name)
        b.expect(name, 1, USER, mode)


def case_own_links(b):
    home, kept, sticky = b.make_folder("home", USER, 0o755), b.make_folder("kept", USER, 0o755), b.make_folder("sticky", 0, 0o1777)
    exe = b.build("plain")
    for folder in (home, sticky):
        os.symlink("../kept/real.prof", folder + "/footpath.prof")
        os.lchown(folder + "/footpath.prof", USER, USER)
        b.as_user(exe, folder)
    b.expect(kept + "/real.prof", 2, USER, 0o666)


def case_links_of_others(b):
    exe, home = b.build("plain"), b.make_folder("home", USER, 0o755)
    for owner, mode in ((0, 0o1777), (0, 0o777), (OTHER, 0o755), (OTHER, 0o777)):
        folder = b.make_folder("shared", owner, mode)
        os.symlink(home + "/made.prof", folder + "/footpath.prof")
        os.lchown(folder + "/footpath.prof", OTHER, OTHER)
        for user in (USER, 0):
            if "footpath: " not in b.nothing_written(exe, folder, user=user):
                raise Failure("refused in silence")
        own = folder + "/own.prof"  # leads to the other's link
        os.symlink("footpath.prof", own)
        os.lchown(own, USER, USER)
        b.nothing_written(exe, folder, out=own)


def case_files_of_others(b):
    exe = b.build("plain")
    for owner, mode, works in ((0, 0o1777, False), (0, 0o777, False), (OTHER, 0o755, False), (OTHER, 0o777, False),
                               (USER, 0o755, True), (0, 0o755, True)):
        folder = b.make_folder("shared", owner, mode)
        name = folder + "/footpath.prof"
        open(name, "w").close()
        os.chown(name, OTHER, OTHER)
        os.chmod(name, 0o666)
        if works:
            b.as_user(exe, folder)
            b.expect(name, 1, OTHER, 0o666)
        elif "footpath: " not in b.nothing_written(exe, folder):
            raise Failure("refused in silence")


def case_rights_given_up(b):
    """Started as root, with root's environment; another user by the time that it writes."""
    exe, home = b.build("plain"), b.make_folder("home", USER, 0o755)
    b.as_user(exe, home, "drop", user=0, out=home + "/own.prof", all_set=False)
    b.expect(home + "/own.prof", 1, USER, 0o666)
    if "cannot write" not in b.nothing_written(exe, b.root, "drop", user=0):
        raise Failure("refused in silence")


if __name__ == "__main__":
    harness.main(__doc__, bench=Bench)
