/* MD5 of bytes (RFC 1321), which compilers note of each source file in their debug information.
 * It tells an edited file from the compiled one; it is no protection. */
#ifndef FP_BASE_MD5_H
#define FP_BASE_MD5_H

#include <stddef.h>

void fp_md5(const void *bytes, size_t len, unsigned char digest[16]);

#endif
