"""Limits that a busy machine cannot break: of CPU time, never of time that passes.

What is stuck and takes no CPU time is ended by ctest, after hours (see Makefile)."""
import signal
import subprocess


def run(command, cpu, **more):
    """subprocess.run. A process that takes more than so many seconds of CPU time is
    killed, which raises subprocess.TimeoutExpired."""
    done = subprocess.run(["prlimit", "--cpu=%d:%d" % (cpu, cpu + 60), "--", *command], **more)
    if done.returncode == -signal.SIGXCPU:
        raise subprocess.TimeoutExpired(command, cpu)
    return done
