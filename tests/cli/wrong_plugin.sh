# the plugin of one LLVM in the clang of another: one that says it is another
printf '#!/bin/sh\necho 13.0.1\n' > clang
chmod +x clang
export FOOTPATH_CLANG="$PWD/clang"
t footpath-cc -c example.c -o example.o
