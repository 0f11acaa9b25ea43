/* libFuzzer target: the profile reader, on the bytes as they are and with their checksums
 * made right. */
#include "readers.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t len);

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t len)
{
    struct fp_error error = {0};
    fuzz_read_profile(bytes, len, &error);
    unsigned char *copy = malloc(len ? len : 1);
    if (len) memcpy(copy, bytes, len);
    fuzz_repair_profile(copy, len);
    error.set = false;
    fuzz_read_profile(copy, len, &error);
    free(copy);
    return 0;
}
