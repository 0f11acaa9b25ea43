footpath-cc -O0 example.c -o example
t ./example 20
t footpath show
t footpath show --top 2
echo "# each cut of the list is the beginning of the whole"
footpath show --plain --top 0 > whole
for top in 1 2 3 4 5 6 7 8 9 10 11 12; do
    footpath show --plain --top $top > part
    head -n $top whole | cmp - part
done
t footpath show --plain --top 2
t footpath show --plain --functions --top 1
t footpath show --plain --edges --function classify
t footpath show --plain --blocks --function count_bits --top 2
echo "# no line is wider than the terminal"
t env COLUMNS=44 footpath show --top 5
echo "# a source that changed gives no texts; the old one does"
mkdir old
cp example.c old
echo >> example.c
t footpath show --top 2
footpath show --plain --source-root old | cmp - whole
mv old/example.c example.c
t footpath show --functions
t footpath show --edges --function classify
t footpath show --blocks --function count_bits
t footpath show --function nothing
t ./example 20
t footpath show --top 1
footpath show --json --function classify > one.json
t python3 -c '
import json
f = json.load(open("one.json"))["functions"]
print([(x["name"], x["calls"], x["num_paths"], x["executed_paths"]) for x in f])
for p in f[0]["paths"]:
    print(p["count"], p["branches"], p["lines"])
'
echo "# file, line, column, text and sense, each for itself"
t python3 -c '
import json
f = json.load(open("one.json"))["functions"][0]
for s in f["paths"][0]["blocks"]:
    print(s["line"], s.get("column"), s.get("text"), s.get("kind"), s.get("sense"), s.get("value"))
for e in f["edges"]:
    if "text" in e:
        print(e["line"], e["column"], e["text"], e["branch"])
'
