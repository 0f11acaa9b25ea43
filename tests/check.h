/* The smallest test harness: CHECK counts, the closing line tells. */
#ifndef FP_TESTS_CHECK_H
#define FP_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>

static unsigned long checks_passed, checks_failed;

#define CHECK(condition)                   \
    ((condition) ? (void)checks_passed++   \
                 : (void)(checks_failed++, \
                          fprintf(stderr, "%s:%d: failed: %s\n", __FILE__, __LINE__, #condition)))

#define CHECK_EQUAL(got, expected)                                                            \
    do {                                                                                      \
        long long got_ = (long long)(got), expected_ = (long long)(expected);                 \
        if (got_ == expected_) {                                                              \
            checks_passed++;                                                                  \
        } else {                                                                              \
            checks_failed++;                                                                  \
            fprintf(stderr, "%s:%d: %s: got %lld, expected %lld\n", __FILE__, __LINE__, #got, \
                    got_, expected_);                                                         \
        }                                                                                     \
    } while (0)

static inline int check_summary(void)
{
    printf("%lu passed, %lu failed\n", checks_passed, checks_failed);
    /* a test that checked nothing has not passed */
    return checks_failed || !checks_passed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
