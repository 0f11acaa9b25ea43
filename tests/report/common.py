"""What the report's tests share: building programs, running the tool, checks."""
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


class Failure(Exception):
    pass


class Tester:
    def __init__(self, bin_folder, folder):
        self.bin, self.folder, self.passed = os.path.abspath(bin_folder), folder, 0

    def check(self, condition, what):
        if not condition:
            raise Failure(what)
        self.passed += 1

    def equal(self, got, expected, what):
        self.check(got == expected, "%s: got %r, expected %r" % (what, got, expected))

    def run(self, *command, status=0, text=True, **more):
        env = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1")
        done = subprocess.run(command, capture_output=True, env=env, cwd=self.folder, **more)
        if done.returncode != status:
            raise Failure("%s: exit %d\n%s%s" % (" ".join(map(str, command)), done.returncode,
                                                 done.stdout.decode(errors="replace")[-2000:],
                                                 done.stderr.decode(errors="replace")[-2000:]))
        return done.stdout.decode(errors="surrogateescape") if text else done.stdout

    def tool(self, *words, **more):
        return self.run(os.path.join(self.bin, "footpath"), *words, **more)

    def json(self, *words):
        return json.loads(self.tool(*words))

    def build(self, source, out, *flags):
        plus = source.endswith(".cc")
        self.run(os.path.join(self.bin, "footpath-c++" if plus else "footpath-cc"), *flags, source, "-o", out)
        return os.path.join(self.folder, out)

    def profile(self, exe, name, *args):
        path = os.path.join(self.folder, name)
        if os.path.exists(path):
            os.unlink(path)
        subprocess.run([exe, *args], check=True, stdout=subprocess.DEVNULL, env=dict(os.environ, FOOTPATH_OUT=path),
                       cwd=self.folder)
        return path


def main(tests, tester):
    """Runs each; gives the exit status. Says how many checks passed."""
    failed = 0
    for test in tests:
        try:
            test(tester)
        except Failure as failure:
            failed += 1
            print("FAILED %s: %s" % (test.__name__, failure), file=sys.stderr)
    print("%d checks passed, %d tests failed" % (tester.passed, failed))
    return 1 if failed or not tester.passed else 0
