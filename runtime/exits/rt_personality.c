/* Personality functions for code built with --fp-exits. The unwinder calls them for every
 * frame that an exception, pthread_exit or a cancellation passes. A frame without a handler
 * or cleanup for it is left: its path in flight is counted.
 *
 * Not handled: languages other than C and C++, whose frames keep their own functions. */
#include "exits/rt_site.h"

#include <dlfcn.h>
#include <unwind.h>

typedef _Unwind_Reason_Code personality(int, _Unwind_Action, _Unwind_Exception_Class,
                                        struct _Unwind_Exception *, struct _Unwind_Context *);

#ifdef RT_IN_STATIC
/* The unwinder is linked into the program, and where its functions are is not known. What libgcc
 * keeps in a context has not changed since 2001: 18 words for registers, then the CFA of the frame
 * below and the address at which this frame goes on. The frame must be one that a walk of our own
 * comes to, so that an unwinder with another context (LLVM's) is found out: then the frame is not
 * counted. */
static void frame_passed(const struct _Unwind_Context *context)
{
    enum { CFA = 18, ADDRESS };
    const uint64_t *words = (const uint64_t *)context;
    struct rt_frame frame;
    rt_unwind_here(&frame);
    while (rt_unwind_look(&frame)) {
        if (frame.regs[RT_RSP] == words[CFA] && frame.regs[RT_RIP] == words[ADDRESS]) {
            rt_frame_left(&frame, 1);
            rt_frame_was_passed(frame.cfa);
            return;
        }
        if (!rt_unwind_step(&frame)) return;
    }
}
#else
extern personality __gxx_personality_v0 __attribute__((weak));
extern personality __gcc_personality_v0 __attribute__((weak));
personality __footpath_personality, __footpath_personality_gxx, __footpath_personality_gcc;

extern _Unwind_Word _Unwind_GetGR(struct _Unwind_Context *, int) __attribute__((weak));
extern _Unwind_Ptr _Unwind_GetIPInfo(struct _Unwind_Context *, int *) __attribute__((weak));
extern _Unwind_Word _Unwind_GetCFA(struct _Unwind_Context *) __attribute__((weak));

/* Weak: in a static program the unwinder is linked, and dlopen would bring a warning. */
#pragma weak dlopen

struct unwinder {
    __typeof__(&_Unwind_GetGR) get_register;
    __typeof__(&_Unwind_GetIPInfo) get_address;
    __typeof__(&_Unwind_GetCFA) get_cfa;
};

/* In C++ programs the unwinder is linked. In a C program libc loads it when a thread ends;
 * then it is found by dlopen. */
static const struct unwinder *find_unwinder(void)
{
    static struct unwinder known;
    if (!known.get_cfa) {
        struct unwinder found = {_Unwind_GetGR, _Unwind_GetIPInfo, _Unwind_GetCFA};
        if (!found.get_cfa) {
            void *library = !dlopen ? NULL : dlopen("libgcc_s.so.1", RTLD_LAZY | RTLD_NOLOAD);
            if (!library) return NULL;
            found.get_register = (__typeof__(found.get_register))dlsym(library, "_Unwind_GetGR");
            found.get_address = (__typeof__(found.get_address))dlsym(library, "_Unwind_GetIPInfo");
            found.get_cfa = (__typeof__(found.get_cfa))dlsym(library, "_Unwind_GetCFA");
        }
        if (!found.get_register || !found.get_address || !found.get_cfa) return NULL;
        known = found;
    }
    return &known;
}

/* Counts by what is known of the place (rt_site.h), without reading tables. */
static bool count_at_site(const struct unwinder *u, struct _Unwind_Context *context,
                          uint64_t address)
{
    struct rt_site *site = rt_site_at(address);
    if (!site || !site->usable) return false;
    if (!site->counts) return true;
    uint64_t word = 0;
    if (site->has_register) {
        uint64_t rbp = u->get_register(context, RT_RBP);
        uint64_t cfa = (site->way.cfa_by_rbp ? rbp : u->get_cfa(context)) + (uint64_t)site->way.cfa;
        word = *(const uint64_t *)((site->slot_by_rbp ? rbp : cfa) + (uint64_t)site->slot +
                                   rt_slot_bias());
    }
    rt_site_count(site, rt_site_sum(site, word));
    return true;
}

/* The cfa that the unwinder gives for a context is that of the frame below: the stack
 * pointer of this frame. A signal has saved all registers of the frame that it interrupted; the
 * path register of rewritten code may be any of them. */
static void frame_passed(struct _Unwind_Context *context)
{
    static const int kept[] = {RT_RBX, RT_RBP, 12,     13, 14, 15, RT_RAX, RT_RDX,
                               RT_RCX, RT_RSI, RT_RDI, 8,  9,  10, 11};
    enum { KEPT_BY_CALLS = 6 };
    const struct unwinder *u = find_unwinder();
    int before = 0;
    if (!u) return;
    uint64_t address = u->get_address(context, &before);
    if (count_at_site(u, context, address - !before)) return;
    struct rt_frame frame = {0};
    frame.regs[RT_RIP] = address;
    frame.interrupted = before;
    frame.regs[RT_RSP] = u->get_cfa(context);
    size_t known = before ? sizeof kept / sizeof *kept : KEPT_BY_CALLS;
    for (size_t i = 0; i < known; i++) frame.regs[kept[i]] = u->get_register(context, kept[i]);
    if (rt_unwind_look(&frame)) rt_frame_left(&frame, 1);
}
#endif

static _Unwind_Reason_Code ask(personality *real, int version, _Unwind_Action actions,
                               _Unwind_Exception_Class class, struct _Unwind_Exception *exception,
                               struct _Unwind_Context *context)
{
    _Unwind_Reason_Code code =
        real ? real(version, actions, class, exception, context) : _URC_CONTINUE_UNWIND;
    if (actions & _UA_CLEANUP_PHASE && code == _URC_CONTINUE_UNWIND) frame_passed(context);
#ifdef RT_IN_STATIC
    if (code == _URC_INSTALL_CONTEXT) rt_frames_were_left();
#endif
    return code;
}

#ifndef RT_IN_STATIC
_Unwind_Reason_Code __footpath_personality(int version, _Unwind_Action actions,
                                           _Unwind_Exception_Class class,
                                           struct _Unwind_Exception *exception,
                                           struct _Unwind_Context *context)
{
    return ask(NULL, version, actions, class, exception, context);
}

_Unwind_Reason_Code __footpath_personality_gxx(int version, _Unwind_Action actions,
                                               _Unwind_Exception_Class class,
                                               struct _Unwind_Exception *exception,
                                               struct _Unwind_Context *context)
{
    return ask(__gxx_personality_v0, version, actions, class, exception, context);
}

_Unwind_Reason_Code __footpath_personality_gcc(int version, _Unwind_Action actions,
                                               _Unwind_Exception_Class class,
                                               struct _Unwind_Exception *exception,
                                               struct _Unwind_Context *context)
{
    return ask(__gcc_personality_v0, version, actions, class, exception, context);
}
#endif

#ifdef RT_IN_EXECUTABLE
/* Of moved functions (src/exe/newpersonality.c). real: what the function had before, or NULL. */
_Unwind_Reason_Code __footpath_personality_with(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class class,
                                                struct _Unwind_Exception *exception,
                                                struct _Unwind_Context *context,
                                                personality *real) FP_HIDDEN;
_Unwind_Reason_Code __footpath_personality_with(int version, _Unwind_Action actions,
                                                _Unwind_Exception_Class class,
                                                struct _Unwind_Exception *exception,
                                                struct _Unwind_Context *context, personality *real)
{
    return ask(real, version, actions, class, exception, context);
}
#endif
