/* The progress line: see cli_progress.h. */
#include "cli_progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD_NS = 100000000 };

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void cli_progress_begin(struct cli_progress *p, const char *what, size_t total)
{
    *p = (struct cli_progress){.what = what, .total = total, .on = isatty(STDERR_FILENO)};
    p->next_ns = now() + 3 * PERIOD_NS;
}

void cli_progress_at(struct cli_progress *p, size_t done)
{
    enum { WIDTH = 30 };
    uint64_t time = p->on ? now() : 0;
    if (!p->on || time < p->next_ns) return;
    char bar[WIDTH + 1];
    size_t full = p->total ? done * WIDTH / p->total : WIDTH;
    for (size_t i = 0; i < WIDTH; i++) bar[i] = i < full ? '#' : '.';
    bar[WIDTH] = 0;
    fprintf(stderr, "\r%s [%s] %zu of %zu\033[K", p->what, bar, done, p->total);
    p->shown = true;
    p->next_ns = time + PERIOD_NS;
}

void cli_progress_of(void *context, size_t done, size_t total)
{
    struct cli_progress *progress = context;
    progress->total = total;
    cli_progress_at(progress, done);
}

void cli_progress_clear(struct cli_progress *p)
{
    if (p->shown) fputs("\r\033[K", stderr);
    p->shown = false;
}
