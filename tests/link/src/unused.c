/* Nobody calls these. */
int unused(int x)
{
    return x ? 1 : 2;
}

int unused_too(int x)
{
    return x ? unused(x - 1) : 3;
}
