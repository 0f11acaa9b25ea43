"""Plays a script to a chess engine that speaks UCI.

    python3 uci.py SCRIPT COMMAND...

After `go` it waits for the engine's move, and after `isready` for its answer: an
engine that gets `quit`, or the end of its input, while it thinks may never end.
Prints what the engine says, without figures that depend on time; exits as it does.
"""
import re
import subprocess
import sys

ANSWERS = {"uci": "uciok", "isready": "readyok", "go": "bestmove"}


def read_until(engine, answer):
    for line in engine.stdout:
        if not re.search(r"\b(time|nps|cpuload|hashfull|currmove)\b", line):
            print(line, end="", flush=True)
        if line.startswith(answer):
            return
    sys.exit("the engine ended before it said " + answer)


def main():
    engine = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    with open(sys.argv[1]) as script:
        for line in script:
            engine.stdin.write(line)
            engine.stdin.flush()
            answer = ANSWERS.get(line.split()[0]) if line.split() else None
            if answer:
                read_until(engine, answer)
    engine.stdin.close()
    engine.stdout.read()
    sys.exit(engine.wait())


if __name__ == "__main__":
    main()
