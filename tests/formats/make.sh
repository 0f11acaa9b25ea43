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
footpath-cc -O0 --fp-mode=edge-min program.c -o program
FOOTPATH_MAP=1 FOOTPATH_OUT=edges.prof ./program
footpath-cc -O0 --fp-at=early --fp-values program.c -o program
# shellcheck disable=SC2086
objcopy $sections program values.elf 2>/dev/null
FOOTPATH_MAP=1 FOOTPATH_OUT=values.prof ./program

# where clang's own profiles count
footpath-cc -O0 --fp-at=pgo --fp-values program.c -o program
FOOTPATH_MAP=1 FOOTPATH_OUT=llvm.prof ./program

# samples, with what came before them
footpath-cc -O1 --fp-mode=pep --fp-pep=flag paths.c -o program
FOOTPATH_MAP=1 FOOTPATH_TICK_MS=1 FOOTPATH_OUT=history.prof ./program 1000000 >/dev/null

# machine code: addresses
gcc -O1 -s program.c -o program
footpath exe program -o rewritten
FOOTPATH_MAP=1 FOOTPATH_OUT=code.prof ./rewritten

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
rm -rf "$here/golden.new" && mkdir "$here/golden.new"
cp ./*.elf ./*.fpmap ./*.prof* ./*.cp ./*.guide ./*.division ./*.legacy "$here/golden.new"
rm -rf "$work"
ls -l "$here/golden.new"
