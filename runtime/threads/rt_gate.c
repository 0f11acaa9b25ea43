/* Gates: what a thread counts of functions with large arrays that look seldom called
 * (footpath/abi.h). A thread that counts in its own copy takes a page for nearly every path. So the
 * first few counts of a thread in such a function go to the copy that nobody owns, by atomic
 * additions: all threads share its pages. Then the gate opens, and the thread counts in its own.
 *
 * Signal handlers may interrupt this anywhere and count too. What is lost then is a step of the
 * gate, and no count.
 *
 * Not handled: where the shared copy cannot be made, gates open at the first count.
 */
#include "rt.h"

/* Counts. An atomic addition costs some 20 to 50 ns; the pages of an array cost a thread 5 us or
 * more, to touch and to give back. */
enum { MOST_SHARED = 256 };

/* needs: a gate of this module is not open in this thread's copy. */
void rt_gate_count(uint64_t gate, uint64_t counter)
{
    const struct rt_process *process = rt_this.process;
    int64_t own = RT_LOCAL->core.bias, shared = 0;
    uint16_t *seen = (uint16_t *)(gate + (uint64_t)own);
    bool paused = process && own && own == process->threads.nowhere;
    if (process && !process->threads.incomplete && !paused)
        shared = __atomic_load_n(&process->threads.shared, __ATOMIC_ACQUIRE);
    bool opens = !shared || *seen >= MOST_SHARED;
    *seen = opens ? (uint16_t)FP_GATE_OPEN : (uint16_t)(*seen + 1);
    uint64_t *word = (uint64_t *)(counter + (uint64_t)(opens ? own : shared));
    __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
}

static bool has_gates(const struct rt_process *process)
{
    for (size_t i = 0; i < process->core.nmodules; i++) {
        const struct rt_module *module = process->core.modules[i];
        if (module && module->ranges[RT_GATES].start != module->ranges[RT_GATES].end) return true;
    }
    return false;
}

bool rt_gate_needs_copy(const struct rt_process *process)
{
    return !process->threads.shared && has_gates(process);
}

void rt_gate_close_all(const struct rt_module *module, int64_t bias)
{
    const struct rt_range *gates = &module->ranges[RT_GATES];
    for (char *gate = gates->start; gate < gates->end; gate++) gate[bias] = 0;
}
