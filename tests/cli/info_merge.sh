footpath-cc -O0 example.c -o example
FOOTPATH_OUT=a.prof ./example 5
FOOTPATH_OUT=b.prof ./example 7
t footpath info a.prof
t footpath info example
t footpath merge a.prof b.prof -o ab.prof
t footpath info ab.prof
t footpath show --functions ab.prof
echo "# twice the same is twice as much"
t footpath merge a.prof a.prof -o aa.prof
t footpath show --functions aa.prof
echo "# a bad one among several is an error, or skipped with --skip-bad"
head -c 100 a.prof > bad.prof
echo nonsense > worse.prof
t footpath merge --skip-bad a.prof bad.prof worse.prof missing.prof -o skipped.prof
t footpath merge a.prof worse.prof -o strict.prof
t test -e strict.prof
