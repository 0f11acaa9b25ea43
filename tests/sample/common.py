"""What the scripts of this folder share: counted checks, and commands."""
import subprocess

passed = failed = 0


def check(what, right, detail=""):
    global passed, failed
    passed, failed = passed + bool(right), failed + (not right)
    if not right:
        print("failed: %s %s" % (what, detail))


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, errors="replace", **options)


def result():
    """Says how it went; the exit status."""
    print("%d passed, %d failed" % (passed, failed))
    return 1 if failed else 0
