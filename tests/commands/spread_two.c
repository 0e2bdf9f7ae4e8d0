/* Runs two programs as PE 0 and PE 1 of one run, as `hecaton spread` does with one program: spread_two PE0 PE1 [ARG…].
 * Ends with the exit code of PE 0, or 99 if PE 1 ends other than with 0. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static pid_t start(char *program, int pe, int socket, char **arguments)
{
    pid_t pid = fork();
    if (pid == 0) {
        char membership[64];
        snprintf(membership, sizeof membership, "%d/2:%d", pe, socket);
        setenv("HECATON_SPREAD", membership, 1);
        arguments[0] = program;
        execv(program, arguments);
        _exit(98);
    }
    return pid;
}

int main(int argc, char **argv)
{
    int ends[2], status[2];
    pid_t pids[2];
    if (argc < 3 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return 97;
    for (int pe = 0; pe < 2; pe++) {
        int own = dup(ends[pe]);
        pids[pe] = start(argv[pe + 1], pe, own, argv + 2);
        close(own);
    }
    close(ends[0]);
    close(ends[1]);
    for (int pe = 0; pe < 2; pe++)
        waitpid(pids[pe], &status[pe], 0);
    if (!WIFEXITED(status[1]) || WEXITSTATUS(status[1]) != 0)
        return 99;
    return WIFEXITED(status[0]) ? WEXITSTATUS(status[0]) : 96;
}
