/* A library with one hash table, and with nothing that is counted in an array. */
#include "many_paths.h"

MANY_PATHS(many_linked)
