footpath-cc --fp-mode=check -O0 example.c -o example
t ./example
t footpath verify footpath.prof
t footpath verify --json footpath.prof
footpath-cc --fp-exits -O0 example.c -o with-paths
footpath-cc --fp-mode=edge --fp-exits -O0 example.c -o with-edges
footpath-cc --fp-mode=edge-min --fp-exits -O0 example.c -o with-chords
for program in with-paths with-edges with-chords; do
    FOOTPATH_OUT=$program.prof ./$program 30
done
t footpath verify with-paths.prof with-edges.prof
t footpath verify with-paths.prof with-chords.prof
echo "# another run is not the same"
FOOTPATH_OUT=more.prof ./with-edges 31
t footpath verify with-paths.prof more.prof
echo "# two programs with the same functions"
mkdir paths edges
echo 'int extra(int n) { return n ? n : 1; }' >two.c
for mode in path edge; do
    footpath-cc --fp-mode=$mode --fp-exits -O0 example.c -o ${mode}s/one
    footpath-cc --fp-mode=$mode --fp-exits -O0 example.c two.c -o ${mode}s/two
    FOOTPATH_OUT=${mode}s.prof ${mode}s/two 7
    FOOTPATH_OUT=${mode}s.prof ${mode}s/one 30
done
t footpath verify --program all paths.prof edges.prof
t footpath verify --program two paths.prof edges.prof
t footpath verify with-paths.prof
t footpath verify with-edges.prof
t footpath verify
t footpath verify a b c
