#!/bin/sh
# Makes golden files of today's formats, all but those of older versions (old-*), which stay as they
# are. Files in use are replaced only when a format changes: then keep the one before as old-*.
#   tests/formats/make.sh BUILD/bin
# Needs root, for a host name that is nobody's.
set -eu
bin=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=/golden
# shellcheck disable=SC2016 # words of the other shell
[ "$(hostname)" = golden ] || exec unshare --uts sh -c 'hostname golden && exec "$0" "$@"' "$here/make.sh" "$bin"
export PATH="$bin:$PATH" FOOTPATH_MAP=0
rm -rf "$work" && mkdir "$work" && cd "$work"
cp "$here/program.c" "$here/../pep/programs/paths.c" .

# the program: in each form of the map, less all that only a run needs
sections="-j .footpath_map -j footpath_cnt -j footpath_hash -j .note.gnu.build-id -j .debug_footpath_live"
for form in plain packed separate; do
    footpath-cc -O0 --fp-callees --fp-map=$form program.c -o program
    cp program program-$form
    # shellcheck disable=SC2086 # a list of words
    objcopy $sections program $form.elf 2>/dev/null
    FOOTPATH_OUT=$form.prof ./program
done
mv program.fpmap separate.elf.fpmap

# profiles: with a map, of two runs, and one whose second run lies beside it
FOOTPATH_MAP=1 FOOTPATH_OUT=alone.prof ./program-packed
FOOTPATH_OUT=alone.prof ./program-packed
FOOTPATH_MAP=1 FOOTPATH_OUT=aside.prof ./program-packed
flock -s aside.prof env FOOTPATH_OUT=aside.prof ./program-packed
footpath merge packed.prof alone.prof -o merged.prof
footpath combine --binary packed.elf packed.prof alone.prof -o combined.cp

footpath-cc -O0 --fp-mode=edge program.c -o program
# shellcheck disable=SC2086
objcopy $sections program edge.elf 2>/dev/null
FOOTPATH_OUT=edge.prof ./program

# exits, cycles, edges, values
footpath-cc -O0 --fp-exits --fp-metric=cycles program.c -o program
FOOTPATH_MAP=1 FOOTPATH_OUT=cycles.prof ./program
cat >left.c <<'END'
#include <stdlib.h>
static volatile int notes;
__attribute__((noinline)) static void note(int n)
{
    notes += n;
    if (notes > 18) exit(0);
}
__attribute__((noinline)) static void other(int n)
{
    notes += 2 * n;
}
__attribute__((noinline)) static void step(int i)
{
    if (i & 1)
        note(1);
    else
        other(2);
    if (i & 2) note(3);
    note(4);
}
int main(void)
{
    for (int i = 0; i < 10; i++) step(i);
    return 1;
}
END
footpath-cc -O1 --fp-exits --fp-copies=all left.c -o program
FOOTPATH_MAP=1 FOOTPATH_OUT=copied.prof ./program
footpath-cc -O0 --fp-mode=edge-min program.c -o program
FOOTPATH_MAP=1 FOOTPATH_OUT=edges.prof ./program
footpath-cc -O0 --fp-at=early --fp-values program.c -o program
# shellcheck disable=SC2086
objcopy $sections program values.elf 2>/dev/null
FOOTPATH_MAP=1 FOOTPATH_OUT=values.prof ./program

# where clang's own profiles count
footpath-cc -O0 --fp-at=pgo --fp-values program.c -o program
FOOTPATH_MAP=1 FOOTPATH_OUT=llvm.prof ./program

# notes of gcc
gcc -O1 -fprofile-use -ftest-coverage -Wno-missing-profile -c program.c -o program.o

# samples, with what came before them
footpath-cc -O1 --fp-mode=pep --fp-pep=flag paths.c -o program
FOOTPATH_MAP=1 FOOTPATH_TICK_MS=1 FOOTPATH_OUT=history.prof ./program 1000000 >/dev/null

# machine code: addresses
gcc -O1 -s program.c -o program
footpath exe program -o rewritten
FOOTPATH_MAP=1 FOOTPATH_OUT=code.prof ./rewritten

# what a process leaves that was killed when its main had returned
cat >killed.c <<'END'
#include "program.c"
#include <signal.h>
#include <unistd.h>
__attribute__((destructor)) static void die(void)
{
    kill(getpid(), SIGKILL);
}
END
footpath-cc -O0 killed.c -o program
# shellcheck disable=SC2086
objcopy $sections program live.elf 2>/dev/null
FOOTPATH_LIVE=1 FOOTPATH_OUT=live.prof ./program || true
truncate -s 32768 live.prof.*.live # the rest is empty

footpath export --format guide values.prof -o values.guide
footpath plan packed.elf -k 3 --strategy p3 --guide alone.prof -o paths.division >/dev/null
footpath plan packed.elf -k 2 --strategy invocations -o turns.division >/dev/null
# turns are for functions that are hotter than these: choose gets the kind by hand
python3 - "$here/../hostile" <<'END'
import struct, sys
sys.path.insert(0, sys.argv[1])
import formats
data = open("turns.division", "rb").read()
body = data[32:].replace(b"\6choose\0", b"\6choose\1")
open("turns.division", "wb").write(data[:24] + struct.pack("<Q", formats.checksum(body)) + body)
END
footpath export --format legacy --what paths --binary packed.elf packed.prof -o paths.legacy
footpath export --format legacy --what edges --binary edge.elf edge.prof -o edges.legacy
footpath export --format legacy --what paths --binary packed.elf combined.cp -o combined.legacy
# a store as the text of its rows: a day's sum, runs, a run that goes on
footpath store add --store s.store alone.prof cycles.prof
footpath store retain s.store --runs 1s --hours 2s
footpath store add --store s.store history.prof code.prof merged.prof
python3 - "$here/../hostile" <<'END'
import sqlite3, subprocess, sys
sys.path.insert(0, sys.argv[1])
import formats
def go_on(run):
    run.flags |= 1
open("going.prof", "wb").write(formats.rewrite(open("edges.prof", "rb").read(), go_on))
subprocess.run(["footpath", "store", "add", "--store", "s.store", "going.prof"], check=True)
with sqlite3.connect("s.store") as base, open("store.sql", "w") as out:
    out.writelines(line + "\n" for line in base.iterdump())
END
rm going.prof
rm -rf "$here/golden.new" && mkdir "$here/golden.new"
cp ./*.elf ./*.gcno ./*.fpmap ./*.prof* ./*.cp ./*.guide ./*.division ./*.legacy ./*.sql "$here/golden.new"
rm -rf "$work"
ls -l "$here/golden.new"
