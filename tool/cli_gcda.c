/* Counts for gcc: see cli_gcda.h. */
#include "cli_gcda.h"

#include "base/checked.h"
#include "base/io.h"
#include "cli.h"
#include "gcov/gccdump.h"
#include "gcov/gcda.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct gcda_export {
    struct fp_arena arena;
    struct fp_source_counts source;
    struct fp_code_counts code;
    bool of_code;         /* is the profile of optimised machine code? */
    FP_VEC(char *) notes; /* names of files */
    size_t written, functions, known;
    uint64_t weighed, weighed_alike;
};

static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && !strcmp(name + n - m, end);
}

/* Links are not followed: a folder may hold a link to itself. */
static bool find_notes(struct gcda_export *x, const char *folder)
{
    DIR *entries = opendir(folder);
    bool ok = entries != NULL;
    for (struct dirent *entry; ok && (entry = readdir(entries));) {
        struct stat st;
        char *path = fp_arena_printf(&x->arena, "%s/%s", folder, entry->d_name);
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..") || lstat(path, &st))
            continue;
        if (S_ISDIR(st.st_mode)) ok = find_notes(x, path);
        if (S_ISREG(st.st_mode) && ends_in(path, ".gcno")) fp_vec_push(&x->arena, &x->notes, path);
    }
    if (!entries) cli_say("%s cannot be read", folder);
    if (entries) closedir(entries);
    return ok;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void tell(struct gcda_export *x, const struct fp_gcc_notes *notes,
                 const struct fp_gcc_counts *counts)
{
    x->written++;
    x->functions += notes->functions.len;
    for (size_t i = 0; i < notes->functions.len; i++) {
        x->known += counts[i].arcs != NULL;
        x->weighed = fp_add_saturated(x->weighed, counts[i].weighed);
        x->weighed_alike = fp_add_saturated(x->weighed_alike, counts[i].weighed_alike);
    }
}

static bool has_places(const struct fp_gcc_notes *notes)
{
    for (size_t i = 0; i < notes->functions.len; i++)
        if (notes->functions.at[i].places.len) return true;
    return false;
}

/* gcc's dump beside x.gcno: "x.profile", or "x.c.069i.profile" as gcc calls it; NULL: none. */
static char *find_dump(struct fp_arena *arena, const char *notes)
{
    const char *slash = strrchr(notes, '/');
    char *stem = fp_arena_strndup(arena, notes, strlen(notes) - strlen("gcno")), *found = NULL;
    const char *first = slash ? stem + (slash - notes) + 1 : stem;
    DIR *entries = opendir(slash ? fp_arena_strndup(arena, notes, (size_t)(slash - notes)) : ".");
    for (struct dirent *entry; entries && (entry = readdir(entries));)
        if (!strncmp(entry->d_name, first, strlen(first)) && ends_in(entry->d_name, ".profile"))
            found = fp_arena_printf(arena, "%.*s%s", (int)(first - stem), stem, entry->d_name);
    if (entries) closedir(entries);
    return found;
}

static bool read_dump(struct fp_arena *arena, const char *name, struct fp_gcc_notes *notes,
                      struct fp_error *error)
{
    const char *dump = find_dump(arena, name);
    struct fp_file file;
    if (!dump) return true;
    if (!fp_file_open(&file, dump, error)) return false;
    fp_gcc_dump_read(arena, (const char *)file.bytes, file.len, notes);
    fp_file_close(&file);
    return true;
}

/* x.gcda beside x.gcno: where gcc looks. */
static bool export_one(struct gcda_export *x, const char *name, struct fp_error *error)
{
    struct fp_arena arena = {0};
    struct fp_file file;
    struct fp_gcc_notes notes;
    struct fp_writer out = {0};
    if (!fp_file_open(&file, name, error)) return false;
    bool ok = fp_gcc_notes_read(&arena, file.bytes, file.len, name, &notes, error) &&
              read_dump(&arena, name, &notes, error);
    if (ok) {
        const struct fp_gcc_counts *counts = fp_gcc_counts_make(
            &arena, &notes, &x->source, x->of_code && has_places(&notes) ? &x->code : NULL);
        char *path = fp_arena_strdup(&arena, name);
        memcpy(path + strlen(path) - strlen("gcno"), "gcda", strlen("gcda"));
        fp_write_gcda(&out, &notes, counts);
        ok = fp_file_write(path, out.bytes, out.len, error);
        tell(x, &notes, counts);
    }
    fp_writer_free(&out);
    fp_file_close(&file);
    fp_arena_free(&arena);
    return ok;
}

static int export_all(struct gcda_export *x)
{
    for (size_t i = 0; i < x->notes.len; i++) {
        struct fp_error error = {0};
        if (!export_one(x, x->notes.at[i], &error)) return cli_fail(&error, NULL);
    }
    if (x->source.without_lines)
        cli_say("%zu function%s no line information, left out", x->source.without_lines,
                x->source.without_lines == 1 ? " has" : "s have");
    cli_say("%zu file%s: %zu of %zu functions have counts; %.1f%% of the executions of lines found "
            "their place",
            x->written, x->written == 1 ? "" : "s", x->known, x->functions,
            x->weighed ? 100 * (double)x->weighed_alike / (double)x->weighed : 100);
    return EXIT_SUCCESS;
}

int cli_export_gcda(const struct fp_profile *profile, const char *notes)
{
    struct gcda_export x = {0};
    struct stat st;
    int status = EXIT_FAILED;
    if (stat(notes, &st)) {
        cli_say("%s: no such file or folder", notes);
    } else if (S_ISDIR(st.st_mode) && !find_notes(&x, notes)) {
        /* told */
    } else {
        if (!S_ISDIR(st.st_mode)) fp_vec_push(&x.arena, &x.notes, fp_arena_strdup(&x.arena, notes));
        fp_source_counts_make(&x.arena, profile, &x.source);
        x.of_code = fp_code_counts_make(&x.arena, profile, &x.code);
        if (!x.notes.len)
            cli_say("%s has no notes of gcc (.gcno): compile with gcc -ftest-coverage", notes);
        else if (!x.source.files.len)
            cli_say("nothing to export: no function has line information; compile with -g");
        else {
            qsort(x.notes.at, x.notes.len, sizeof *x.notes.at, by_name);
            status = export_all(&x);
        }
    }
    fp_arena_free(&x.arena);
    return status;
}
