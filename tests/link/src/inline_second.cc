#include "shared_inline.h"

int second(int x)
{
    return clamp(x + 1) - twice(x);
}
