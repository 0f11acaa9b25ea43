"""Packages that only tests need (axe-core, speedscope's schema): scripts/fetch has put
them into a folder that is not committed."""
import glob
import os

from common import Failure


def fetched(package, folder):
    """The folder of the unpacked package."""
    found = glob.glob(os.path.join(folder, package + "@*"))
    if not found:
        raise Failure("%s is not in %s; run scripts/setup test" % (package, folder))
    return max(found)
