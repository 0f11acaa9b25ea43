/* The hottest paths of a program, step by step, with libfootpath.
 *
 *     cc hottest.c $(pkg-config --cflags --libs footpath) -o hottest
 *     ./hottest footpath.prof
 *
 * Of a combined profile: the events that vary most over the runs.
 */
#include <footpath/footpath.h>
#include <inttypes.h>
#include <stdio.h>

enum { SHOWN = 5 };

static void show_path(struct footpath *fp, const struct footpath_function *f,
                      const struct footpath_path *path)
{
    static const char *const ends[] = {"returns", "goes on at a loop", "is once around a loop",
                                       "never ends"};
    struct footpath_route route;
    if (!footpath_decode(fp, path, &route)) return;
    printf("%s, %" PRIu64 " times, %" PRIu32 " instructions; %s\n", footpath_name(fp, f),
           path->count, path->instructions, ends[route.end]);
    for (uint32_t i = 0; i < route.nsteps; i++) {
        const struct footpath_step *step = &route.steps[i];
        printf("    %s:%" PRIu32 ":%" PRIu32 " in %s", step->place.file, step->place.line,
               step->place.column, step->place.function);
        printf(step->branch && *step->branch ? " (%s)\n" : "\n", step->branch);
    }
}

static void show_events(struct footpath *fp)
{
    struct footpath_event_filter filter = {.kinds = 1u << FOOTPATH_EVENT_PATH, .above = -1};
    size_t count;
    const struct footpath_event *events = footpath_events(fp, &filter, &count);
    for (size_t i = 0; i < count && i < SHOWN; i++) {
        struct footpath_statistics s;
        footpath_measure(&events[i], &s);
        printf("%s, path %" PRIu64 ": mean %.4g, deviation %.4g, median %.4g; in %" PRIu64
               " of %" PRIu64 " runs\n",
               footpath_name(fp, events[i].function), events[i].id, s.mean, s.deviation,
               footpath_quantile(&events[i], 0.5), s.seen, s.runs);
    }
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "usage: hottest PROFILE...\n");
        return 2;
    }
    struct footpath *fp =
        footpath_open(&(struct footpath_options){.profiles = (const char *const *)argv + 1});
    size_t count;
    const struct footpath_warning *warnings = footpath_warnings(fp, &count);
    for (size_t i = 0; i < count; i++) fprintf(stderr, "hottest: %s\n", warnings[i].message);
    if (footpath_status(fp) != FOOTPATH_OPENED) {
        fprintf(stderr, "hottest: %s\n", footpath_error(fp));
        footpath_close(fp);
        return 1;
    }
    const struct footpath_function *functions = footpath_functions(fp, &count);
    const struct footpath_path *const *paths = footpath_hottest(fp, SHOWN, &count);
    for (size_t i = 0; i < count; i++) show_path(fp, &functions[paths[i]->function], paths[i]);
    show_events(fp);
    footpath_close(fp);
    return 0;
}
