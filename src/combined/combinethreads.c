/* Combining by threads: each takes the next block, at most a few ahead of the merging. */
#include "combined/combineblock.h"

#include <pthread.h>
#include <stdlib.h>

struct team {
    const struct fp_combine_job *job;
    struct fp_combine_block *blocks;
    size_t next, merged, ahead;
    bool stop;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static void *work(void *context)
{
    struct team *team = context;
    struct fp_combiner *combiner = fp_combiner_for(team->job);
    pthread_mutex_lock(&team->lock);
    while (!team->stop && team->next < fp_combine_nblocks(team->job)) {
        if (team->next >= team->merged + team->ahead) {
            pthread_cond_wait(&team->changed, &team->lock);
            continue;
        }
        size_t index = team->next++;
        pthread_mutex_unlock(&team->lock);
        fp_combine_block(team->job, combiner, index, &team->blocks[index]);
        pthread_mutex_lock(&team->lock);
        team->blocks[index].done = true;
        pthread_cond_broadcast(&team->changed);
    }
    pthread_mutex_unlock(&team->lock);
    fp_combiner_free(combiner);
    return NULL;
}

static bool merge_as_done(struct team *team, struct fp_combine_sum *sum, struct fp_error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < fp_combine_nblocks(team->job); i++) {
        pthread_mutex_lock(&team->lock);
        while (!team->blocks[i].done) pthread_cond_wait(&team->changed, &team->lock);
        pthread_mutex_unlock(&team->lock);
        ok = fp_combine_merge_block(team->job, sum, &team->blocks[i], error);
        pthread_mutex_lock(&team->lock);
        team->merged = i + 1;
        pthread_cond_broadcast(&team->changed);
        pthread_mutex_unlock(&team->lock);
        fp_combine_tell_progress(team->job, i);
    }
    return ok;
}

/* Starts up to `threads` members; how many started. */
static uint32_t start(struct team *team, pthread_t *members, uint32_t threads)
{
    uint32_t started = 0;
    while (started < threads && pthread_create(&members[started], NULL, work, team) == 0) started++;
    if (!started) { /* no threads to be had */
        team->ahead = fp_combine_nblocks(team->job);
        work(team);
    }
    return started;
}

static void stop(struct team *team, const pthread_t *members, uint32_t started)
{
    pthread_mutex_lock(&team->lock);
    team->stop = true;
    pthread_cond_broadcast(&team->changed);
    pthread_mutex_unlock(&team->lock);
    for (uint32_t i = 0; i < started; i++) pthread_join(members[i], NULL);
}

bool fp_combine_files(const struct fp_combine_job *job, struct fp_combine_sum *sum,
                      struct fp_error *error)
{
    size_t nblocks = fp_combine_nblocks(job);
    uint32_t threads = job->threads < nblocks ? job->threads : (uint32_t)nblocks;
    struct fp_arena arena = {0};
    struct team team = {.job = job,
                        .ahead = 2 * (size_t)threads,
                        .blocks = FP_NEW_ARRAY(&arena, struct fp_combine_block, nblocks),
                        .lock = PTHREAD_MUTEX_INITIALIZER,
                        .changed = PTHREAD_COND_INITIALIZER};
    pthread_t *members = FP_NEW_ARRAY(&arena, pthread_t, threads);
    *sum = (struct fp_combine_sum){.combined = fp_combined_new(job->bins)};
    uint32_t started = start(&team, members, threads);
    bool ok = merge_as_done(&team, sum, error);
    stop(&team, members, started);
    for (size_t i = 0; i < nblocks; i++) fp_combine_block_free(&team.blocks[i]);
    fp_arena_free(&arena);
    return ok;
}
