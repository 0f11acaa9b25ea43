/* The MPI module: the few calls that footpath needs of MPI, as one struct of
 * functions (cli_mpi.h). Messages of any length go in pieces that a count of type int
 * can tell. */
#include "cli_mpi.h"

#include <mpi.h>
#include <stdlib.h>

enum { PIECE = 1 << 30, TAG = 0 };

static bool begin(struct cli_mpi *mpi)
{
    return MPI_Init(NULL, NULL) == MPI_SUCCESS && MPI_Comm_rank(MPI_COMM_WORLD, &mpi->rank) == MPI_SUCCESS &&
           MPI_Comm_size(MPI_COMM_WORLD, &mpi->size) == MPI_SUCCESS;
}

static bool send_bytes(int to, const void *bytes, size_t len)
{
    uint64_t length = len;
    if (MPI_Send(&length, 1, MPI_UINT64_T, to, TAG, MPI_COMM_WORLD) != MPI_SUCCESS) return false;
    for (const char *at = bytes; len;) {
        size_t piece = len < PIECE ? len : PIECE;
        if (MPI_Send(at, (int)piece, MPI_BYTE, to, TAG, MPI_COMM_WORLD) != MPI_SUCCESS) return false;
        at += piece;
        len -= piece;
    }
    return true;
}

static unsigned char *receive_bytes(int from, size_t *len)
{
    uint64_t length;
    if (MPI_Recv(&length, 1, MPI_UINT64_T, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return NULL;
    unsigned char *bytes = malloc(length ? length : 1);
    for (size_t at = 0; bytes && at < length;) {
        size_t piece = length - at < PIECE ? length - at : PIECE;
        if (MPI_Recv(bytes + at, (int)piece, MPI_BYTE, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) !=
            MPI_SUCCESS) {
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
    MPI_Finalize();
}

static void give_up(int status)
{
    MPI_Abort(MPI_COMM_WORLD, status);
}

extern struct cli_mpi footpath_mpi;
struct cli_mpi footpath_mpi = {
    .size = 1,
    .begin = begin,
    .send = send_bytes,
    .receive = receive_bytes,
    .end = end,
    .give_up = give_up,
};
