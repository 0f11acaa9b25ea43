footpath-cc -O0 example.c -o example
./example 9
t footpath dot --function classify
t footpath dot --function count_bits --dag --values example
t footpath dot --function count_bits --plan
t footpath dot --function nothing
t footpath dot
t footpath dot --function classify -o classify.svg
t grep -c '<svg' classify.svg
