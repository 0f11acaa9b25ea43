echo "# the tool"
t footpath shwo
t footpath frobnicate
t footpath show --frobnicate
t footpath show missing.prof
echo nonsense > nonsense
t footpath show nonsense
t footpath show --top
echo "# damaged profiles"
footpath-cc -O0 example.c -o example
FOOTPATH_MAP=0 ./example # the profile has no map: the program's file is needed
head -c 200 footpath.prof > short.prof
t footpath show short.prof
python3 -c '
data = bytearray(open("footpath.prof", "rb").read())
data[120] ^= 1
open("flipped.prof", "wb").write(data)'
t footpath show flipped.prof
echo "# another build in its place"
cp example kept
footpath-cc -O0 -DSOMETHING example.c other.c -o example
t footpath show --top 1
t footpath show --top 1 --binary kept
rm example
t footpath show --top 1
echo "# the compiler"
t footpath-cc --fp-mode=pathe example.c
t footpath-cc --fp-frobnicate example.c
t footpath-cc --fp-mode example.c
t footpath-cc --fp-exits=yes example.c
t footpath-cc --fp-strip-lines example.c
t footpath-cc --fp-copy=x example.c
t footpath-cc --fp-array-paths=many example.c
t footpath-cc --fp-loop-entries=2.5x example.c
t footpath-cc --fp-copy=1 example.c
t env FOOTPATH_CC_FLAGS=-O2 footpath-cc example.c
t env FOOTPATH_CC_FLAGS= footpath-cc --fp-mode=none --fp-llvm=99 example.c
t env FOOTPATH_CLANG=/nowhere/clang footpath-cc example.c
t footpath-cc missing.c
t footpath-cc example.c -o /nowhere/example
echo 'int main(void) { return x; }' > wrong.c
t footpath-cc -c wrong.c
echo "# the program: its output and exit status stay as they are"
footpath-cc -O0 example.c -o example
t env FOOTPATH_OUT=/nowhere/out.prof ./example
t env FOOTPATH_OUTT=x ./example
mkdir readonly
t env FOOTPATH_OUT=readonly ./example
