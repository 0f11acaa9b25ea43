# the plugin of one LLVM in the clang of another
for other in 14 16 22; do
    [ $other != "$LLVM" ] && [ -x "/usr/lib/llvm-$other/bin/clang" ] || continue
    FOOTPATH_CLANG=/usr/lib/llvm-$other/bin/clang footpath-cc -c example.c -o example.o 2> messages
    [ $? != 0 ] || echo "clang $other accepted it"
    sed 's/llvm-[0-9]*/llvm-N/g' messages
    break
done
