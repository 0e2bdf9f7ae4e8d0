/* The servers `pong` and `file` of server.hs in C: one thread, epoll, level-triggered. It is the ceiling for them. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EVENTS = 256, REQUEST = 4096, ANSWER = 65536, BACKLOG = 4096 };

static void fail(const char *what) {
    perror(what);
    exit(1);
}

static void watch(int set, int descriptor) {
    struct epoll_event event = {.events = EPOLLIN, .data.fd = descriptor};
    if (epoll_ctl(set, EPOLL_CTL_ADD, descriptor, &event) != 0)
        fail("epoll_ctl");
}

static int answer_with(char *answer, const char *body, size_t length) {
    int head = sprintf(answer, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", length);
    memcpy(answer + head, body, length);
    return head + (int)length;
}

static int answer_with_file(char *answer, const char *path) {
    static char body[ANSWER - 256];
    struct stat status;
    int file = open(path, O_RDONLY);
    if (file < 0 || fstat(file, &status) != 0 || (size_t)status.st_size > sizeof body)
        fail(path);
    if (read(file, body, status.st_size) != status.st_size)
        fail(path);
    close(file);
    return answer_with(answer, body, status.st_size);
}

/* Answers one request; zero if the client has closed the connection. */
static int serve(int connection, const char *path) {
    static char request[REQUEST], answer[ANSWER];
    ssize_t received = recv(connection, request, sizeof request, 0);
    if (received < 0 && errno == EAGAIN)
        return 1;
    if (received <= 0)
        return 0;
    int length = path ? answer_with_file(answer, path) : answer_with(answer, "Pong!", 5);
    return send(connection, answer, length, MSG_NOSIGNAL) == length;
}

int main(int count, char **arguments) {
    const char *path = count > 2 ? arguments[2] : NULL;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_ANY)};
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
    int set = epoll_create1(0);
    if (listener < 0 || set < 0 || bind(listener, (struct sockaddr *)&address, size) != 0 || listen(listener, BACKLOG) != 0
        || getsockname(listener, (struct sockaddr *)&address, &size) != 0)
        fail("listen");
    printf("%d\n", ntohs(address.sin_port));
    fflush(stdout);
    watch(set, listener);
    for (;;) {
        struct epoll_event events[EVENTS];
        int ready = epoll_wait(set, events, EVENTS, -1);
        for (int i = 0; i < ready; i++) {
            int descriptor = events[i].data.fd;
            if (descriptor != listener) {
                if (!serve(descriptor, path))
                    close(descriptor);
                continue;
            }
            int connection;
            while ((connection = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0)
                watch(set, connection);
            if (errno != EAGAIN && errno != ECONNABORTED)
                fail("accept");
        }
    }
}
