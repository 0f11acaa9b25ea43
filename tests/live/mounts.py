"""File systems for tests, mounted where no other process sees them."""
import contextlib
import ctypes
import os

from harness import Skipped

NEW_MOUNTS, NEW_USERS, READ_ONLY, REMOUNT, DETACH = 0x20000, 0x10000000, 1, 32, 2
PRIVATE = 0x4000 | 1 << 18  # all of them
libc = ctypes.CDLL(None, use_errno=True)


def call(function, *words):
    if getattr(libc, function)(*[word.encode() if isinstance(word, str) else word for word in words]) < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def alone():
    """This process and its children have mounts of their own from here on, which go with the last of them."""
    user = os.getuid()
    try:
        call("unshare", NEW_MOUNTS | (0 if user == 0 else NEW_USERS))
        if user:
            with open("/proc/self/uid_map", "w") as f:
                f.write("%d %d 1" % (user, user))
        call("mount", None, "/", None, PRIVATE, None)
    except OSError as error:
        raise Skipped("needs the right to mount: %s" % error.strerror)


@contextlib.contextmanager
def memory(folder, size):
    """An empty folder with room for this much (such as 1m)."""
    alone()
    os.makedirs(folder, exist_ok=True)
    call("mount", "test", folder, "tmpfs", 0, "size=" + size)
    try:
        yield folder
    finally:
        call("umount2", folder, DETACH)


def make_read_only(folder, only):
    call("mount", "test", folder, "tmpfs", REMOUNT | (READ_ONLY if only else 0), None)
