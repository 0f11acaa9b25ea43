"""Packages from npm that only tests need (axe-core, speedscope's schema): fetched
once, by npm itself, into a folder that is not committed."""
import os
import shutil
import subprocess
import tarfile

from common import Failure


def fetch(package, folder):
    """The folder of the unpacked package."""
    target = os.path.join(folder, package)
    if os.path.isdir(target):
        return target
    os.makedirs(folder, exist_ok=True)
    if not shutil.which("npm"):
        raise Failure("%s is not in %s, and npm is not installed to fetch it" % (package, folder))
    done = subprocess.run(["npm", "pack", "--silent", package], cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise Failure("npm cannot fetch %s: %s" % (package, done.stderr[-300:]))
    archive = os.path.join(folder, done.stdout.split()[-1])
    with tarfile.open(archive) as tar:
        # Debian 12's Python does not know filters yet
        how = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        tar.extractall(target + ".new", **how)
    os.rename(os.path.join(target + ".new", "package"), target)
    shutil.rmtree(target + ".new")
    os.unlink(archive)
    return target
