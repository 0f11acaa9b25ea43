/* Computed goto through differences of labels, which C++ does not have: see jumps.cc. */
static volatile int n;

int differences(const unsigned char *code)
{
    static const int labels[] = {&&stop - &&stop, &&add - &&stop, &&twice - &&stop, &&less - &&stop};
    int a = 5;
    goto *(&&stop + labels[*code]);
add:
    a += n;
    goto *(&&stop + labels[*++code]);
twice:
    a *= 2;
    goto *(&&stop + labels[*++code]);
less:
    a -= 3;
    goto *(&&stop + labels[*++code]);
stop:
    return a;
}
