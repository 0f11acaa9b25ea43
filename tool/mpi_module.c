/* The MPI module: the few calls that footpath needs of MPI, as one struct of
 * functions (cli_mpi.h). Messages of any length go in pieces that a count of type int
 * can tell. */
#include "cli_mpi.h"

#include <mpi.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif
#include <stdlib.h>

enum { PIECE = 1 << 30, TAG = 0 };

/* MPI keeps memory, and it unloads components while it starts and when it ends. Then the
 * leak checker cannot tell whose memory that is (tests/lsan.supp names the libraries). So
 * a sanitized build passes over what is allocated during the start, and looks for leaks
 * before the end; that look is the only one. */
#ifdef __SANITIZE_ADDRESS__
static void pass_over_leaks(void)
{
    __lsan_disable();
}
static void note_leaks(void)
{
    __lsan_enable();
}
static void check_leaks(void)
{
    __lsan_do_leak_check();
}
#else
static void pass_over_leaks(void)
{
}
static void note_leaks(void)
{
}
static void check_leaks(void)
{
}
#endif

static bool begin(struct fp_ranks *mpi)
{
    pass_over_leaks();
    bool started = MPI_Init(NULL, NULL) == MPI_SUCCESS;
    note_leaks();
    return started && MPI_Comm_rank(MPI_COMM_WORLD, &mpi->rank) == MPI_SUCCESS &&
           MPI_Comm_size(MPI_COMM_WORLD, &mpi->size) == MPI_SUCCESS;
}

static bool send_bytes(int to, const void *bytes, size_t len)
{
    uint64_t length = len;
    if (MPI_Send(&length, 1, MPI_UINT64_T, to, TAG, MPI_COMM_WORLD) != MPI_SUCCESS) return false;
    for (const char *at = bytes; len;) {
        size_t piece = len < PIECE ? len : PIECE;
        if (MPI_Send(at, (int)piece, MPI_BYTE, to, TAG, MPI_COMM_WORLD) != MPI_SUCCESS)
            return false;
        at += piece;
        len -= piece;
    }
    return true;
}

static unsigned char *receive_bytes(int from, size_t *len)
{
    uint64_t length;
    if (MPI_Recv(&length, 1, MPI_UINT64_T, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
        MPI_SUCCESS)
        return NULL;
    unsigned char *bytes = malloc(length ? length : 1);
    for (size_t at = 0; bytes && at < length;) {
        size_t piece = length - at < PIECE ? length - at : PIECE;
        if (MPI_Recv(bytes + at, (int)piece, MPI_BYTE, from, TAG, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE) != MPI_SUCCESS) {
            free(bytes);
            return NULL;
        }
        at += piece;
    }
    *len = length;
    return bytes;
}

static void end(void)
{
    check_leaks();
    MPI_Finalize();
}

static void give_up(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
}

extern struct fp_ranks footpath_mpi;
struct fp_ranks footpath_mpi = {
    .size = 1,
    .begin = begin,
    .send = send_bytes,
    .receive = receive_bytes,
    .end = end,
    .give_up = give_up,
};
