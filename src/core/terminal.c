/* SPDX-License-Identifier: MIT */
#include "terminal.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};

enum { SIGNALS = sizeof signals / sizeof *signals };

/* Read by signal handlers: pu_terminal_hide fills the state before the first handler is set, and pu_terminal_show
 * changes `is_hidden` after the last handler is gone. */
static struct {
    bool is_hidden;
    int fd;
    struct termios before;
    struct sigaction was[SIGNALS];
    volatile sig_atomic_t is_handled[SIGNALS];
} state;

int pu_terminal_width(int fd)
{
    struct winsize size;
    return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

int pu_terminal_height(int fd)
{
    struct winsize size;
    return fd >= 0 && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

static bool set_echo(bool on)
{
    struct termios settings = state.before;
    if (!on) settings.c_lflag &= ~(tcflag_t)ECHO;
    return tcsetattr(state.fd, TCSAFLUSH, &settings) == 0; /* FLUSH drops text typed before */
}

static void on_signal(int number);

static void handle(int i)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = signals[i] == SIGTSTP ? SA_RESTART : 0};
    sigfillset(&action.sa_mask); /* blocks SIGTTOU, so a background process may set the terminal */
    state.is_handled[i] = sigaction(signals[i], NULL, &state.was[i]) == 0 && state.was[i].sa_handler != SIG_IGN &&
                          sigaction(signals[i], &action, NULL) == 0;
}

static void unhandle(int i)
{
    if (state.is_handled[i]) sigaction(signals[i], &state.was[i], NULL);
    state.is_handled[i] = false;
}

/* Turns echo on, and raises the signal again with the previous handler. After a stop (SIGTSTP) the process continues
 * here, and turns echo off. */
static void on_signal(int number)
{
    int kept = errno, i = 0;
    sigset_t one, mask;
    while (i + 1 < SIGNALS && signals[i] != number) i++;
    set_echo(true);
    unhandle(i);
    sigemptyset(&one);
    sigaddset(&one, number);
    raise(number);
    pthread_sigmask(SIG_UNBLOCK, &one, &mask);
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
    if (number == SIGTSTP) {
        handle(i);
        set_echo(false);
    }
    errno = kept;
}

bool pu_terminal_hide(int fd)
{
    if (state.is_hidden || tcgetattr(fd, &state.before) != 0) return false;
    state.fd = fd;
    state.is_hidden = true;
    for (int i = 0; i < SIGNALS; i++) handle(i);
    if (set_echo(false)) return true;
    pu_terminal_show(fd);
    return false;
}

bool pu_terminal_show(int fd)
{
    if (!state.is_hidden || fd != state.fd) return false;
    bool done = set_echo(true);
    for (int i = 0; i < SIGNALS; i++) unhandle(i);
    state.is_hidden = false;
    return done;
}
