"""What the report's tests share: a program and its profiles, and output as text."""
import functools
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import harness  # noqa: E402
from harness import Failure  # noqa: E402,F401

WALK = os.path.join(HERE, "programs", "walk.c")
OPTIONS = [("--tools", {"type": os.path.abspath, "default": os.path.join(harness.ROOT, ".cache", "tools")})]


class Tester(harness.Bench):
    check, equal = staticmethod(harness.expect), staticmethod(harness.equal)

    def run(self, *command, text=True, env=None, **more):
        """What it printed, text=False: as bytes."""
        env = {"LC_ALL": "C.UTF-8", "NO_COLOR": "1", **(env or {})}
        environ = harness.environment(PATH=self.args.bin + ":" + os.environ["PATH"])
        out = harness.run(*command, text=False, cwd=self.folder, env={**environ, **env}, **more).stdout
        return out.decode(errors="surrogateescape") if text else out

    def json(self, *words):
        return harness.json.loads(self.tool(*words))

    def build(self, source, out, *flags):
        self.cc(*flags, source, "-o", out)
        return self.path(out)

    @functools.cached_property
    def walk(self):
        return self.build(WALK, "walk", "-O0", "--fp-exits")

    @functools.cached_property
    def a(self):
        return self.profile(self.walk, "a.prof", "100")

    @functools.cached_property
    def b(self):
        return self.profile(self.walk, "b.prof", "40")

    @functools.cached_property
    def fast_prof(self):
        return self.profile(self.build(WALK, "walk-fast", "-O2"), "fast.prof", "100")

    def runs(self, name, *sizes):
        """A profile of several runs."""
        for size in sizes:
            self.run(self.walk, str(size), env={"FOOTPATH_OUT": self.path(name)})
