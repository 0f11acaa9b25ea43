/* The same for dlopen. */
#include "many_paths.h"

MANY_PATHS(many_loaded)
