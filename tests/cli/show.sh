footpath-cc -O0 example.c -o example
t ./example 20
t footpath show
t footpath show --top 2
echo "# each cut of the list is the beginning of the whole"
footpath show --top 0 | sed '1,/cost/d' > whole
for top in 1 2 3 4 5 6 7 8 9 10 11 12; do
    footpath show --top $top | sed '1,/cost/d' | grep -v 'more; --top' > part
    head -n $top whole | cmp - part
done
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
