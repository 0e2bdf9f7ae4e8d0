/* The functions of MPI that the runtime uses (rts/src/spread/transport/mpi_library.rs), with an interface that does not
 * depend on which MPI it is. `hecaton mpi-shim` compiles this file against the MPI of a machine. A program opens the
 * result when it runs as one of several processes that an MPI launcher has started.
 *
 * The runtime calls these functions one at a time, from several OS threads. Nothing waits but hec_mpi_start,
 * hec_mpi_withdraw and hec_mpi_finish. Errors of MPI end all processes, which is MPI's own default. */
#include <mpi.h>
#include <stdlib.h>

/* Counts up when the interface changes. */
const int hec_mpi_interface = 1;

/* All that have MPICH's binary interface are of its kind. The name of the file has this in it. */
#if defined(OPEN_MPI)
const char hec_mpi_kind[] = "openmpi";
#elif defined(MPICH_VERSION) || defined(MPICH_NUMVERSION) || defined(I_MPI_VERSION) || defined(MVAPICH2_VERSION)
const char hec_mpi_kind[] = "mpich";
#else
#error "this MPI is neither Open MPI nor like MPICH"
#endif

/* Messages of the runtime only. */
static MPI_Comm all;

/* Starts MPI. Says this process's number, how many there are, and which ones share its host: `neighbours` gets the
 * first and the number of them, or this process alone if their numbers do not follow each other. Returns why it failed,
 * or NULL. */
const char *hec_mpi_start(int *rank, int *size, int neighbours[2])
{
    int is_started, provided, own;
    MPI_Comm host;
    MPI_Initialized(&is_started);
    if (is_started)
        return "the program has started MPI itself";
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS)
        return "MPI does not start";
    if (provided < MPI_THREAD_SERIALIZED) {
        MPI_Finalize();
        return "this MPI is for programs with one thread only";
    }
    MPI_Comm_dup(MPI_COMM_WORLD, &all);
    MPI_Comm_rank(all, rank);
    MPI_Comm_size(all, size);
    MPI_Comm_split_type(all, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
    MPI_Comm_size(host, &own);
    MPI_Allreduce(rank, &neighbours[0], 1, MPI_INT, MPI_MIN, host);
    MPI_Allreduce(rank, &neighbours[1], 1, MPI_INT, MPI_MAX, host);
    MPI_Comm_free(&host);
    neighbours[1] -= neighbours[0] - 1;
    if (neighbours[1] != own) {
        neighbours[0] = *rank;
        neighbours[1] = 1;
    }
    return NULL;
}

static MPI_Request *new_request(void)
{
    MPI_Request *request = malloc(sizeof *request);
    if (!request)
        abort();
    return request;
}

/* Begins to send. The request is done when the receiver has taken the bytes, so they wait here until it does. */
void *hec_mpi_send(int to, int tag, const void *bytes, int length)
{
    MPI_Request *request = new_request();
    MPI_Issend(bytes, length, MPI_BYTE, to, tag, all, request);
    return request;
}

/* Begins to receive bytes from any process. */
void *hec_mpi_receive(int tag, void *bytes, int room)
{
    MPI_Request *request = new_request();
    MPI_Irecv(bytes, room, MPI_BYTE, MPI_ANY_SOURCE, tag, all, request);
    return request;
}

/* Begins to wait until all processes have begun to. */
void *hec_mpi_barrier(void)
{
    MPI_Request *request = new_request();
    MPI_Ibarrier(all, request);
    return request;
}

/* Is a request done? Then it is gone. For one to receive, `from` and `length` say what has come. */
int hec_mpi_is_done(void *request, int *from, int *length)
{
    int is_done;
    MPI_Status status;
    MPI_Test(request, &is_done, &status);
    if (is_done) {
        *from = status.MPI_SOURCE;
        MPI_Get_count(&status, MPI_BYTE, length);
        free(request);
    }
    return is_done;
}

/* Withdraws a request to receive. */
void hec_mpi_withdraw(void *request)
{
    MPI_Cancel(request);
    MPI_Wait(request, MPI_STATUS_IGNORE);
    free(request);
}

/* Ends MPI. All processes do so together. */
void hec_mpi_finish(void)
{
    MPI_Comm_free(&all);
    MPI_Finalize();
}
