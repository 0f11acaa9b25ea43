"""A private PostgreSQL server for tests and benchmarks: its own folder, a unix socket in it, no port, never the
system's server. As root it runs as the user nobody, because PostgreSQL refuses root.

    with server.Server() as s:
        use(s.url())              # an empty database
"""
import glob
import os
import pwd
import shutil
import subprocess
import tempfile


def program(name):
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin/" + name),
                   key=lambda path: float(path.split("/")[4]), reverse=True)
    return found[0] if found else shutil.which(name)


class Server:
    def __init__(self, sync=False):
        """sync: what is committed is on the disk; tests kill clients, not the machine."""
        self.sync = sync
        self.folder = None
        self.made = 0

    def __enter__(self):
        if not program("initdb"):
            raise RuntimeError("no initdb: the package postgresql is missing; scripts/setup test installs it")
        self.folder = tempfile.mkdtemp(prefix="fppg")
        self.as_user = {}
        if os.geteuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(self.folder, nobody.pw_uid, nobody.pw_gid)
            os.chmod(self.folder, 0o755)
            self.as_user = {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}
        self.data = os.path.join(self.folder, "data")
        self.log = os.path.join(self.folder, "log")
        try:
            self.do("initdb", "-D", self.data, "-U", "footpath", "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C.UTF-8")
            self.start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def do(self, name, *words):
        done = subprocess.run([program(name), *words], cwd=self.folder, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True, **self.as_user)
        if done.returncode:
            log = open(self.log).read() if os.path.exists(self.log) else ""
            raise RuntimeError("%s %s: %s%s" % (name, " ".join(words), done.stdout, log[-2000:]))

    def start(self):
        options = "-k %s -c listen_addresses='' -c max_connections=60%s" % (self.folder, "" if self.sync else " -c fsync=off")
        # not through a pipe: the server would keep it open
        with open(os.path.join(self.folder, "ctl"), "w") as out:
            done = subprocess.run([program("pg_ctl"), "-D", self.data, "-l", self.log, "-w", "-t", "1800", "-o", options,
                                   "start"], cwd=self.folder, stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                  **self.as_user)
        if done.returncode:
            raise RuntimeError("PostgreSQL does not start: " + open(self.log).read()[-2000:])

    def url(self):
        """Of a new, empty database."""
        self.made += 1
        name = "test%d" % self.made
        self.do("createdb", "-h", self.folder, "-U", "footpath", name)
        return "postgresql://footpath@/%s?host=%s" % (name, self.folder.replace("/", "%2F"))

    def sql(self, url, text):
        done = subprocess.run([program("psql"), "-At", url, "-c", text], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            raise RuntimeError(done.stdout)
        return done.stdout.strip()

    def __exit__(self, *_):
        subprocess.run([program("pg_ctl"), "-D", self.data, "-m", "immediate", "-w", "stop"], cwd="/",
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, **self.as_user)
        shutil.rmtree(self.folder, ignore_errors=True)
