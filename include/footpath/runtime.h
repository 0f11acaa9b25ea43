/* Control of the profile from inside the program.
 *
 * The functions are weak: a program that calls them can also be built without
 * footpath, where they are null:
 *
 *     if (footpath_dump) footpath_dump();
 *
 * All act on every instrumented executable and library of the process. They may be
 * called from any thread, but not from signal handlers.
 */
#ifndef FOOTPATH_RUNTIME_H
#define FOOTPATH_RUNTIME_H

#ifdef __cplusplus
extern "C" {
#endif

#define FOOTPATH_WEAK __attribute__((weak))

/* Writes the profile as it is now; the run goes on, and its next profile replaces
 * this one. 0, or -1 if it could not be written. */
int footpath_dump(void) FOOTPATH_WEAK;

/* Forgets what was counted. */
void footpath_reset(void) FOOTPATH_WEAK;

/* Between the two nothing is counted, in any thread. */
void footpath_pause(void) FOOTPATH_WEAK;
void footpath_resume(void) FOOTPATH_WEAK;

/* As FOOTPATH_OUT: a name, with patterns. */
void footpath_set_output(const char *pattern) FOOTPATH_WEAK;

#undef FOOTPATH_WEAK

#ifdef __cplusplus
}
#endif

#endif
