footpath-cc -O0 example.c -o example
FOOTPATH_OUT=few.prof ./example 5 > few.out
FOOTPATH_OUT=many.prof ./example 20 > many.out
echo "# diff, flame graphs and combined profiles tell paths as show does"
t footpath diff --top 3 few.prof many.prof
t footpath diff --edges --top 2 few.prof many.prof
t footpath export --format collapsed few.prof
t footpath combine -o both.cp few.prof many.prof
t footpath show --top 3 both.cp
echo "# no line of a sentence is wider than the terminal"
t env COLUMNS=60 footpath diff --top 2 few.prof many.prof
echo "# without the source, places"
mkdir away
mv example.c away
t footpath diff --top 1 few.prof many.prof
footpath export --format collapsed few.prof > far
footpath export --format collapsed --source-root away few.prof > near
t head -n 2 far
t head -n 2 near
mv away/example.c .
echo "# a path that enters a loop tells where it goes on"
cat > enter.c <<'END'
int work(int n)
{
    int sum = n;
    if (n > 3) sum++;
    for (int i = 0; i < n; i++) {
        if (i & 1) sum += i;
        else sum ^= i;
    }
    return sum;
}
int main(void) { return work(5) + work(2) == 0; }
END
footpath-cc -O0 --fp-cuts=loops enter.c -o enter
FOOTPATH_OUT=enter.prof ./enter
t footpath show --function work enter.prof
