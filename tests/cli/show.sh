footpath-cc -O0 example.c -o example
t ./example 20
t footpath show
t footpath show --top 2
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
