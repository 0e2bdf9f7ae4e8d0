/* deny WHAT PROGRAM ARGUMENT...: runs a program that the system denies something.
     io_uring   io_uring_setup, by a seccomp filter
     code       to make memory executable by mprotect, by a seccomp filter
     gain       the same by PR_SET_MDWE, which Linux has from 6.3 on
   Exit code 77 if the system cannot deny it. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

static int filter(struct sock_filter *code, unsigned short length)
{
    struct sock_fprog program = {length, code};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

#define LOAD(what) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, what))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define DENY(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))

int main(int argc, char **argv)
{
    struct sock_filter no_ring[] = {
        LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1), DENY(EPERM), ALLOW,
    };
    struct sock_filter no_code[] = {
        LOAD(nr), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 0, 3),
        LOAD(args[2]), BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1), DENY(EACCES), ALLOW,
    };
    int failed = 1;
    if (argc < 3) {
        fprintf(stderr, "usage: deny io_uring|code|gain PROGRAM ARGUMENT...\n");
        return 2;
    }
    if (!strcmp(argv[1], "io_uring"))
        failed = filter(no_ring, sizeof no_ring / sizeof *no_ring);
    else if (!strcmp(argv[1], "code"))
        failed = filter(no_code, sizeof no_code / sizeof *no_code);
    else if (!strcmp(argv[1], "gain"))
        failed = prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0);
    if (failed) {
        perror("deny");
        return 77;
    }
    execv(argv[2], argv + 2);
    perror(argv[2]);
    return 127;
}
