# what --fp-dump prints; our own weights, so that it is the same with every LLVM
cc="footpath-cc -O0 -c --fp-weights=static --fp-array-paths=4096 example.c -o example.o"
t $cc --fp-dump=classify
t $cc --fp-dump='count_*,fun:main' --fp-mode=check
t $cc --fp-dump=count_bits --fp-cuts=few --fp-exits
t $cc --fp-dump=count_bits --fp-cuts=loops --fp-exits
t $cc --fp-dump=count_bits --fp-mode=edge-min
t $cc --fp-dump=count_bits --fp-metric=cycles
t $cc --fp-dump=count_bits --fp-cuts=few --fp-array-paths=2
t $cc --fp-dump=classify --fp-deny=classify
t $cc --fp-dump=nothing
