/* Actions of signals that a statically linked program sets: our handlers of fatal signals are
 * hidden from the program, as by the stand-ins for sigaction in dynamic programs
 * (exits/rt_default.c). Here the program is seen where it calls the kernel.
 *
 * Not handled: an `old` action at an address that can be read and not written is not reported.
 */
#include "static/rt_static.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

bool rt_copy_in(void *to, uint64_t from, size_t len)
{
    struct iovec local = {to, len}, remote = {(void *)from, len};
    return rt_exe_call(SYS_process_vm_readv, getpid(), (long)&local, 1, (long)&remote, 1, 0) ==
           (long)len;
}

bool rt_copy_out(uint64_t to, const void *from, size_t len)
{
    struct iovec local = {(void *)(uintptr_t)from, len}, remote = {(void *)to, len};
    return rt_exe_call(SYS_process_vm_writev, getpid(), (long)&local, 1, (long)&remote, 1, 0) ==
           (long)len;
}

/* ---- the kernel's form and libc's ---- */

static struct sigaction as_libc(const struct rt_action *action)
{
    struct sigaction as = {.sa_sigaction = action->handler,
                           .sa_flags = (int)action->flags,
                           .sa_restorer = action->restorer};
    memcpy(&as.sa_mask, &action->mask, sizeof action->mask);
    return as;
}

static struct rt_action as_kernel(const struct sigaction *action)
{
    struct rt_action as = {action->sa_sigaction, (unsigned)action->sa_flags, action->sa_restorer,
                           0};
    memcpy(&as.mask, &action->sa_mask, sizeof as.mask);
    bool is_handler = (uintptr_t)as.handler > 1;
    if (is_handler && !(as.flags & RT_RESTORER)) {
        as.flags |= RT_RESTORER;
        as.restorer = __footpath_return_from_signal;
    }
    return as;
}

static int set_in_kernel(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct rt_action set, before = {0};
    if (action) set = as_kernel(action);
    if (!rt_set_kernel_action(signal, action ? &set : NULL, &before)) return -1;
    if (old) *old = as_libc(&before);
    return 0;
}

extern int __footpath_sigaction(int (*real)(int, const struct sigaction *, struct sigaction *),
                                int signal, const struct sigaction *action, struct sigaction *old);

/* As the runtime itself calls it. */
int sigaction(int signal, const struct sigaction *restrict action, struct sigaction *restrict old)
{
    return __footpath_sigaction(set_in_kernel, signal, action, old);
}

/* ---- as the program calls the kernel ---- */

long rt_action_set(const struct rt_call_regs *call)
{
    uint64_t signal = rt_call_argument(call, 0), given = rt_call_argument(call, 1),
             wanted = rt_call_argument(call, 2);
    struct rt_action new, before;
    if (rt_call_argument(call, 3) != sizeof new.mask || signal < 1 || signal >= NSIG ||
        rt_is_confined())
        return rt_call_as_is(call);
    if (given && !rt_copy_in(&new, given, sizeof new)) return -EFAULT;
    struct sigaction action, old;
    if (given) action = as_libc(&new);
    if (__footpath_sigaction(set_in_kernel, (int)signal, given ? &action : NULL, &old) < 0)
        return -errno;
    if (!wanted) return 0;
    before = (struct rt_action){old.sa_sigaction, (unsigned)old.sa_flags, old.sa_restorer, 0};
    memcpy(&before.mask, &old.sa_mask, sizeof before.mask);
    return rt_copy_out(wanted, &before, sizeof before) ? 0 : -EFAULT;
}
