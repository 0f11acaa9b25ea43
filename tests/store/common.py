"""What the tests of stores share: a Bench with a store, and profiles of many hosts."""
import contextlib
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import harness  # noqa: E402
import server  # noqa: E402

PROGRAM = """#include <stdio.h>
#include <stdlib.h>
__attribute__((noinline)) static int kind(int x)
{
    if (x % 17 == 0) return VERSION;
    if (x % 3 == 0) return 2;
    return x % 5 == 0 ? 3 : 4;
}
int main(int argc, char **argv)
{
    long sum = 0, n = argc > 1 ? atol(argv[1]) : 100;
    for (long i = 0; i < n; i++) sum += kind((int)i);
    printf("%ld\\n", sum);
    return 0;
}
"""

OPTIONS = (("--db", {"choices": ["sqlite", "postgresql"], "default": "sqlite"}),
           ("--build", {"type": os.path.abspath, "metavar": "FOLDER", "help": "where make-records is"}))


class Bench(harness.Bench):
    """b.store() names the case's store, b.store("since=1d") a part of it."""
    url = None
    private = None

    def store(self, filter=""):
        if self.args.db == "sqlite":
            return "store:" + self.path("s.store") + ("?" + filter if filter else "")
        if not self.url:
            self.private = server.Server()
            self.private.__enter__()
            self.url = self.private.url()
        return self.url + ("&" + filter.replace("host=", "on=") if filter else "")

    def program(self, name="p", version=1, *flags):
        self.write(name + ".c", PROGRAM)
        self.cc("-O2", "-g", "-DVERSION=%d" % version, *flags, name + ".c", "-o", name)
        return self.path(name)

    def add(self, *files):
        return self.tool("store", "add", "--store", self.store(), *files)

    def records(self, out, count, per_file, hosts, days, *templates, seed=1, end=None):
        """Files of made records; and the sum of counts."""
        os.makedirs(self.path(out), exist_ok=True)
        end = int(time.time()) if end is None else end
        made = self.run(os.path.join(self.args.build, "make-records"), self.path(out), str(count), str(per_file), str(hosts),
                        str(days), str(end), str(seed), *templates)
        return sorted(os.path.join(self.path(out), name) for name in os.listdir(self.path(out))), made.stdout

    def counts(self, *names, **how):
        """{function: {path id: count}} of what `show` finds, and the number of runs."""
        shown = self.json("show", "--json", "--top", "0", *names, **how)
        return shown["runs"], {f["name"]: {p["id"]: p["count"] for p in f["paths"]} for f in shown["functions"]}

    def list(self, filter=""):
        return self.json("store", "list", "--json", self.store(filter))


@contextlib.contextmanager
def going(b, *command, env=None):
    """A process beside the test; killed at the end if it is still there."""
    env = harness.environment(PATH=b.args.bin + ":" + os.environ["PATH"], **(env or {}))
    child = subprocess.Popen(command, cwd=b.folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        yield child
    finally:
        if child.poll() is None:
            child.kill()
        child.communicate()


def with_server(case):
    """Stops the case's own server when it ends."""
    def run(b):
        try:
            case(b)
        finally:
            if b.private:
                b.private.__exit__(None, None, None)
    run.__name__, run.__doc__ = case.__name__, case.__doc__
    return run
