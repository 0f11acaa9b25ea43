#include "shared_inline.h"

int first(int x)
{
    return clamp(x) + twice(x);
}
