# whole-program bitcode, as in the workflow of the LLVM 2.8 profiler
for file in user other example; do
    clang-$LLVM -O0 -emit-llvm -c $file.c -o $file.bc
done
compare() {
    for mode in path edge edge-min; do
        t footpath instrument --llvm $LLVM whole.bc --exits --mode $mode -o $mode.bc
        footpath-cc --fp-mode=none $mode.bc -o whole-$mode
        FOOTPATH_OUT=$mode.prof ./whole-$mode
        t footpath export --format legacy $mode.prof -o $mode.out
    done
    echo "# the edges that the paths imply are the edges that were counted, byte by byte"
    t cmp path.out edge.out
    t cmp path.out edge-min.out
    od -A d -t u4 path.out
}
llvm-link-$LLVM example.bc other.bc -o whole.bc
compare
rm *.prof
llvm-link-$LLVM user.bc other.bc -o whole.bc
compare
echo "# paths, out and back in"
t footpath export --format legacy --what paths path.prof -o paths.out
od -A d -t u4 paths.out
t footpath import --format legacy --binary whole-path paths.out -o back.prof
t footpath export --format legacy --what paths back.prof -o again.out
t cmp paths.out again.out
t footpath show back.prof
echo "# edges, out and back in"
t footpath import --format legacy --binary whole-edge edge.out -o edges-back.prof
t footpath verify path.prof edges-back.prof
echo "# several runs: a set for each, with its arguments"
rm -f runs.prof
for words in "one two" three; do FOOTPATH_OUT=runs.prof ./whole-path $words; done
FOOTPATH_OUT=single.prof ./whole-path one two
FOOTPATH_OUT=other.prof ./whole-path three
for name in runs single other; do footpath export --format legacy --what paths $name.prof -o $name.out; done
cat single.out other.out > both.out
t cmp runs.out both.out
t footpath import --format legacy --binary whole-path runs.out -o runs-back.prof
t footpath info runs-back.prof
t footpath export --format legacy --what paths runs-back.prof -o runs-again.out
t cmp runs.out runs-again.out
footpath merge runs.prof -o merged.prof
footpath export --format legacy --what paths merged.prof -o merged.out
od -A d -t u4 merged.out | head -n 1
echo "# what cannot be read"
head -c 10 paths.out > short.out
t footpath import --format legacy --binary whole-path short.out -o no.prof
t footpath import --format legacy --binary whole-edge paths.out -o no.prof
