/* src/base: each helper on its borders. */
#include "base/bitset.h"
#include "base/checked.h"
#include "base/checksum.h"
#include "base/md5.h"
#include "base/io.h"
#include "base/names.h"
#include "base/table.h"
#include "base/varint.h"
#include "base/vec.h"

#include "../check.h"
#include "../random.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void test_arena(void)
{
    struct fp_arena arena = {0};
    unsigned char *kept[200];
    for (size_t i = 0; i < 200; i++) {
        kept[i] = fp_arena_alloc(&arena, i * 100 + 1);
        for (size_t k = 0; k <= i * 100; k++) CHECK(kept[i][k] == 0);
        memset(kept[i], (int)i, i * 100 + 1);
    }
    for (size_t i = 0; i < 200; i++) CHECK(kept[i][i * 100] == (unsigned char)i);
    CHECK(!strcmp(fp_arena_printf(&arena, "%d-%s", 7, "x"), "7-x"));
    CHECK(!strcmp(fp_arena_strndup(&arena, "abcdef", 3), "abc"));
    fp_arena_free(&arena);
    CHECK(arena.total == 0);
}

static void test_vec(void)
{
    struct fp_arena arena = {0};
    FP_VEC(uint64_t) numbers = {0};
    for (uint64_t i = 0; i < 1000; i++) fp_vec_push(&arena, &numbers, i * i);
    CHECK(numbers.len == 1000);
    for (uint64_t i = 0; i < 1000; i++) CHECK(numbers.at[i] == i * i);
    CHECK(fp_vec_pop(&numbers) == 999 * 999 && numbers.len == 999);
    fp_arena_free(&arena);
}

static void test_maps(void)
{
    struct fp_arena arena = {0};
    struct fp_table map;
    fp_table_init(&map, &arena);
    CHECK(!fp_table_find(&map, 0));
    for (uint64_t i = 0; i < 5000; i++) *fp_table_add(&map, i * 0x10001) += i;
    CHECK(map.len == 5000);
    for (uint64_t i = 0; i < 5000; i++) CHECK(*fp_table_find(&map, i * 0x10001) == i);
    CHECK(!fp_table_find(&map, 3));
    uint64_t key, value, sum = 0;
    for (size_t i = 0; fp_table_next(&map, &i, &key, &value);) sum += value;
    CHECK(sum == 5000ull * 4999 / 2);

    struct fp_strtable words;
    fp_strtable_init(&words, &arena);
    char word[32];
    for (uint64_t i = 0; i < 3000; i++) {
        snprintf(word, sizeof word, "w%llu", (unsigned long long)i);
        *fp_strtable_add(&words, word) = i;
    }
    CHECK(*fp_strtable_find(&words, "w2999") == 2999);
    CHECK(!fp_strtable_find(&words, "w3000"));
    CHECK(*fp_strtable_add(&words, "w7") == 7 && words.len == 3000);
    fp_arena_free(&arena);
}

static void test_bitset(void)
{
    struct fp_arena arena = {0};
    struct fp_bitset set = fp_bitset_new(&arena, 130);
    for (size_t i = 0; i < 130; i += 3) fp_bitset_add(&set, i);
    for (size_t i = 0; i < 130; i++) CHECK(fp_bitset_has(&set, i) == (i % 3 == 0));
    fp_bitset_remove(&set, 129);
    CHECK(fp_bitset_count(&set) == 43);
    fp_arena_free(&arena);
}

static void test_checked(void)
{
    uint64_t result;
    CHECK(fp_add_overflows(UINT64_MAX, (uint64_t)1, &result));
    CHECK(!fp_add_overflows(UINT64_MAX - 1, (uint64_t)1, &result) && result == UINT64_MAX);
    CHECK(fp_mul_overflows((uint64_t)1 << 32, (uint64_t)1 << 32, &result));
    CHECK(fp_add_saturated(UINT64_MAX, 5) == UINT64_MAX);
    CHECK(fp_mul_saturated(3, 5) == 15 && fp_mul_saturated(1ull << 63, 2) == UINT64_MAX);
}

static void test_varint(void)
{
    static const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT32_MAX, UINT64_MAX};
    static const int64_t signeds[] = {0, -1, 1, INT64_MIN, INT64_MAX, -64, 63, 64};
    struct fp_writer w = {0};
    for (size_t i = 0; i < 8; i++) fp_write_uint(&w, values[i]);
    for (size_t i = 0; i < 8; i++) fp_write_int(&w, signeds[i]);
    fp_write_u32(&w, 0x01020304);
    fp_write_u64(&w, 0x0102030405060708);
    fp_write_f64(&w, -2.5);
    fp_write_string(&w, "hello");
    struct fp_arena arena = {0};
    struct fp_error error = {0};
    struct fp_reader r = {.bytes = w.bytes, .len = w.len, .file = "f", .error = &error};
    for (size_t i = 0; i < 8; i++) CHECK(fp_read_uint(&r) == values[i]);
    for (size_t i = 0; i < 8; i++) CHECK(fp_read_int(&r) == signeds[i]);
    CHECK(fp_read_u32(&r) == 0x01020304);
    CHECK(fp_read_u64(&r) == 0x0102030405060708);
    CHECK(fp_read_f64(&r) == -2.5);
    CHECK(!strcmp(fp_read_string(&r, &arena), "hello"));
    CHECK(!r.failed && fp_reader_left(&r) == 0);
    CHECK(fp_read_u8(&r) == 0 && r.failed && error.offset == w.len);

    /* every way to be cut short fails, and none reads past the end */
    for (size_t len = 0; len < w.len; len++) {
        unsigned char *exact = malloc(len ? len : 1);
        memcpy(exact, w.bytes, len);
        struct fp_error e = {0};
        struct fp_reader cut = {.bytes = exact, .len = len, .file = "f", .error = &e};
        for (size_t i = 0; i < 16; i++) fp_read_uint(&cut);
        fp_read_u32(&cut), fp_read_u64(&cut), fp_read_f64(&cut), fp_read_string(&cut, &arena);
        CHECK(cut.failed && e.set && e.offset <= len);
        free(exact);
    }
    fp_writer_free(&w);

    const unsigned char wide[] = {255, 255, 255, 255, 255, 255, 255, 255, 255, 2};
    struct fp_error e = {0};
    struct fp_reader long_one = {.bytes = wide, .len = sizeof wide, .file = "f", .error = &e};
    fp_read_uint(&long_one);
    CHECK(long_one.failed && strstr(e.what, "64 bits"));
    const unsigned char many[] = {100, 1, 2};
    struct fp_error e2 = {0};
    struct fp_reader count = {.bytes = many, .len = sizeof many, .file = "f", .error = &e2};
    CHECK(fp_read_count(&count, 1) == 0 && count.failed && strstr(e2.what, "got 100"));
    fp_arena_free(&arena);
}

static void test_error(void)
{
    struct fp_error error = {0};
    char text[256];
    CHECK(!fp_fail_at(&error, "a.prof", 12, "expected %d, got %d", 1, 2));
    CHECK(!fp_fail(&error, "b", "later"));
    fp_error_text(&error, text, sizeof text);
    CHECK(!strcmp(text, "a.prof: at offset 12: expected 1, got 2"));
}

static void test_io(void)
{
    char folder[] = "/tmp/footpath-base.XXXXXX", path[128], inner[128];
    CHECK(mkdtemp(folder));
    struct fp_error error = {0};
    snprintf(inner, sizeof inner, "%s/a/b/c", folder);
    CHECK(fp_make_folder(inner, &error));
    CHECK(fp_make_folder(inner, &error));
    snprintf(path, sizeof path, "%s/a/file", folder);
    CHECK(fp_file_write(path, "12345", 5, &error));
    CHECK(fp_file_write(path, "123", 3, &error));
    struct fp_file file;
    CHECK(fp_file_open(&file, path, &error) && file.len == 3 && !memcmp(file.bytes, "123", 3));
    fp_file_close(&file);
    CHECK(fp_file_write(path, "", 0, &error) && fp_file_open(&file, path, &error) && file.len == 0);
    fp_file_close(&file);
    CHECK(!error.set);
    CHECK(!fp_file_open(&file, inner, &error) && strstr(error.what, "folder"));
    struct fp_error missing = {0};
    CHECK(!fp_file_open(&file, "/nonexistent/x", &missing) && strstr(missing.what, "No such"));
    struct fp_error unwritable = {0};
    CHECK(!fp_file_write("/nonexistent/x", "", 0, &unwritable) && unwritable.set);
    char command[160];
    snprintf(command, sizeof command, "rm -r %s", folder);
    CHECK(system(command) == 0);
}

static void test_checksum(void)
{
    CHECK(fp_checksum("", 0, 0) == 0xef46db3751d8e999u); /* XXH64 of nothing */
    CHECK(fp_checksum("abc", 3, 0) == 0x44bc2cf5ad770999u);
    CHECK(fp_checksum("abc", 3, 1) != fp_checksum("abc", 3, 0));
}

/* RFC 1321, A.5, and lengths around the ends of chunks. */
static void test_md5(void)
{
    static const struct {
        const char *text, *digest;
    } known[] = {
        {"", "d41d8cd98f00b204e9800998ecf8427e"},
        {"abc", "900150983cd24fb0d6963f7d28e17f72"},
        {"message digest", "f96b697d7cb7938d525a2f31aaf161d0"},
        {"1234567890123456789012345678901234567890123456789012345678901234567890"
         "1234567890",
         "57edf4a22be3c955ac49da2e2107b67a"},
        {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
         "04364420e25c512fd958a70738aa8f72"},
        {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
         "668a72d5ba17f08e62dabcafad6db14b"},
        {"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
         "c1bb4f81d892b2d57947682aeb252456"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        unsigned char digest[16];
        char text[33];
        fp_md5(known[i].text, strlen(known[i].text), digest);
        for (int k = 0; k < 16; k++) snprintf(text + 2 * k, 3, "%02x", digest[k]);
        CHECK(!strcmp(text, known[i].digest));
    }
}

static void test_names(void)
{
    CHECK(!strcmp(fp_base_name("/a/b.c"), "b.c"));
    CHECK(!strcmp(fp_base_name("b.c"), "b.c"));
    CHECK(!strcmp(fp_base_name("/a/"), "") && !strcmp(fp_base_name(""), ""));
    CHECK(fp_name_key("f", "/a/b.c") == fp_name_key("f", "b.c"));
    CHECK(fp_name_key("f", "b.c") != fp_name_key("f", "c.c"));
    CHECK(fp_name_key("main", "x.c") == 0xfcca12c4f6f8830bu); /* guides store it */
    struct fp_identity one = {"f", "/a/b.c", 1}, same = {"f", "/z/b.c", 1},
                       other[] = {{"g", "b.c", 1}, {"f", "c.c", 1}, {"f", "b.c", 2}};
    CHECK(fp_identity_order(&one, &same) == 0);
    CHECK(fp_identity_key(&one) == fp_identity_key(&same));
    for (int i = 0; i < 3; i++) {
        CHECK(fp_identity_order(&one, &other[i]) < 0 && fp_identity_order(&other[i], &one) > 0);
        CHECK(fp_identity_key(&one) != fp_identity_key(&other[i]));
    }
}

int main(void)
{
    test_arena();
    test_vec();
    test_maps();
    test_bitset();
    test_checked();
    test_varint();
    test_error();
    test_io();
    test_checksum();
    test_md5();
    test_names();
    return check_summary();
}
