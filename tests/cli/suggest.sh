footpath-cc -O0 example.c -o example
./example 5
echo "# versions and help"
t footpath show --version
footpath help show > topic.txt && footpath show --help > own.txt
t cmp topic.txt own.txt
t footpath help shwo
echo "# names that are nearly right"
t footpath shwo
t footpath show --fonction main
t footpath show --zzz
t footpath show --function clasify
t footpath annotate --function clasify
t footpath coverage --function clasify
t footpath report --function clasify
t footpath dot --function clasify
t footpath show --function zzz
t footpath coverage --format lcv
t footpath coverage --metric edgs
