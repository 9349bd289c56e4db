/* SPDX-License-Identifier: MIT */
/* The machine as a program of fuzz_api.c has it. Nothing leaves it and nothing is executed: connect, getaddrinfo and
 * popen are replaced. Standard input, the terminal with its echo and the files of keys are the target's own. */
#define _GNU_SOURCE
#include "fuzz_api.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

bool sending;
int terminal;
char key_path[] = "/tmp/purser-fuzz-XXXXXX", keys_path[] = "/tmp/purser-fuzz-XXXXXX";

static int keyboard;

int connect(int fd, const struct sockaddr *address, socklen_t len)
{
    const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
    bool loopback = address->sa_family == AF_INET && ntohl(four->sin_addr.s_addr) >> 24 == 127;
    if (loopback && !sending) return (int)syscall(SYS_connect, fd, address, len);
    errno = ECONNREFUSED;
    return -1;
}

int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints, struct addrinfo **found)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    struct addrinfo numeric = hints ? *hints : (struct addrinfo){0};
    numeric.ai_flags = AI_NUMERICHOST;
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo");
    return real(host, service, &numeric, found);
}

/* A command writes itself, and ends as its first character says. */
FILE *popen(const char *command, const char *type)
{
    int fd = memfd_create("fuzzed command", MFD_CLOEXEC);
    if (fd < 0 || write(fd, command, strlen(command)) < 0 || lseek(fd, 0, SEEK_SET) < 0) abort();
    return fdopen(fd, type);
}

int pclose(FILE *pipe)
{
    char first = 0;
    if (pread(fileno(pipe), &first, 1, 0) < 0) abort();
    fclose(pipe);
    return first & 1 ? 256 : 0;
}

/* No terminal but the target's own is changed: the one that it was started from may be a person's. */
int tcsetattr(int fd, int when, const struct termios *settings)
{
    (void)when;
    if (fd == terminal) return ioctl(fd, TCSETS, settings);
    errno = ENOTTY;
    return -1;
}

static void own_terminal(void)
{
    static const char keys[] = "api_key = k\nsecret_key = fuzzed-secret\n";
    int input = memfd_create("fuzzed input", 0);
    keyboard = posix_openpt(O_RDWR | O_NOCTTY);
    if (keyboard < 0 || grantpt(keyboard) || unlockpt(keyboard)) abort();
    terminal = open(ptsname(keyboard), O_RDWR | O_NOCTTY);
    if (terminal < 0 || input < 0 || write(input, keys, sizeof keys - 1) < 0 || dup2(input, STDIN_FILENO) < 0) abort();
    close(input);
}

static void write_file(char *path, const char *text)
{
    int fd = mkstemp(path); /* mode 0600 */
    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)) abort();
    close(fd);
}

static void remove_files(void)
{
    unlink(key_path);
    unlink(keys_path);
}

void make_world(void)
{
    own_terminal();
    write_file(key_path, "fuzzed-secret\n");
    write_file(keys_path, "# keys\napi_key = k\nsecret_key = fuzzed-secret\n");
    atexit(remove_files);
}
