/* SPDX-License-Identifier: MIT */
/* terminal.h on a pseudo-terminal: the size, and echo after every signal that ends or stops a process. */
#define _XOPEN_SOURCE 700 /* posix_openpt */
#define _DEFAULT_SOURCE   /* struct winsize */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "terminal.h"

static int keyboard, terminal; /* master and slave of the pseudo-terminal */

/* Opens a terminal for one test: text typed in an earlier test must not reach a later reader. */
static void open_terminal(void)
{
    keyboard = posix_openpt(O_RDWR | O_NOCTTY);
    CHECK(keyboard >= 0 && grantpt(keyboard) == 0 && unlockpt(keyboard) == 0);
    terminal = open(ptsname(keyboard), O_RDWR | O_NOCTTY);
    CHECK(terminal >= 0);
}

static void close_terminal(void)
{
    close(terminal);
    close(keyboard);
}

static bool shows(void)
{
    struct termios settings;
    return tcgetattr(terminal, &settings) == 0 && (settings.c_lflag & ECHO);
}

static void the_width_is_the_terminals(void)
{
    int pipes[2];
    struct winsize size = {.ws_row = 24, .ws_col = 132};
    CHECK(pu_terminal_width(terminal) == 0); /* unknown width */
    CHECK(ioctl(terminal, TIOCSWINSZ, &size) == 0 && pu_terminal_width(terminal) == 132);
    CHECK(pu_terminal_height(terminal) == 24 && pu_terminal_height(-1) == 0);
    CHECK(pipe(pipes) == 0 && pu_terminal_width(pipes[0]) == 0 && pu_terminal_width(-1) == 0);
    CHECK(!pu_terminal_hide(pipes[0]) && !pu_terminal_hide(-1) && !pu_terminal_show(pipes[0]) && !pu_terminal_show(-1));
    close(pipes[0]);
    close(pipes[1]);
}

static void what_was_is_put_back(void)
{
    struct termios before, after;
    struct sigaction ours = {.sa_handler = SIG_IGN}, now;
    CHECK(sigaction(SIGQUIT, &ours, NULL) == 0);
    for (int echo = 0; echo < 2; echo++) { /* a terminal with echo, and one without echo */
        CHECK(tcgetattr(terminal, &before) == 0);
        if (echo) before.c_lflag |= ECHO;
        else before.c_lflag &= ~(tcflag_t)ECHO;
        CHECK(tcsetattr(terminal, TCSANOW, &before) == 0);
        CHECK(pu_terminal_hide(terminal) && !shows());
        CHECK(!pu_terminal_hide(terminal) && !pu_terminal_show(terminal + 1) && !shows());
        CHECK(pu_terminal_show(terminal) && shows() == echo && !pu_terminal_show(terminal));
        CHECK(tcgetattr(terminal, &after) == 0 && after.c_lflag == before.c_lflag && after.c_iflag == before.c_iflag);
    }
    CHECK(sigaction(SIGQUIT, NULL, &now) == 0 && now.sa_handler == SIG_IGN);
    CHECK(sigaction(SIGINT, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    CHECK(sigaction(SIGTSTP, NULL, &now) == 0 && now.sa_handler == SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
}

static int handled;

static void on_signal(int number)
{
    (void)number;
    handled++;
}

/* Starts a child that hides the terminal, reports by a pipe, and reads a line. */
static pid_t start(bool has_handler)
{
    int said[2];
    char byte;
    CHECK(pipe(said) == 0);
    pid_t child = fork();
    if (child == 0) {
        struct sigaction action = {.sa_handler = on_signal};
        setpgid(0, 0); /* an own group: SIGTSTP would not stop an orphaned group */
        if (has_handler) sigaction(SIGINT, &action, NULL);
        bool fine = pu_terminal_hide(terminal) && !shows() && write(said[1], "x", 1) == 1;
        ssize_t count = fine ? read(terminal, &byte, 1) : 0;
        if (handled) _exit(handled == 1 && shows() && pu_terminal_show(terminal) ? 7 : 9);
        _exit(count == 1 && !shows() && pu_terminal_show(terminal) ? 8 : 9);
    }
    close(said[1]); /* if the child dies, the read below returns 0 */
    CHECK(child > 0 && read(said[0], &byte, 1) == 1);
    close(said[0]);
    return child;
}

static void signals_that_end_a_program_show_the_terminal(void)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        int status = 0;
        pid_t child = start(false);
        CHECK(!shows() && kill(child, ending[i]) == 0 && waitpid(child, &status, 0) == child);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == ending[i] && shows());
    }
    int status = 0;
    pid_t child = start(true);
    CHECK(kill(child, SIGINT) == 0); /* the child's handler runs, before or during the read */
    while (waitpid(child, &status, WNOHANG) == 0) {
        usleep(20000);
        (void)!write(keyboard, "\n", 1);
    }
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7 && shows());
}

static void a_program_that_is_stopped_shows_it_and_hides_it_again(void)
{
    int status = 0;
    pid_t child = start(false);
    for (int i = 0; i < 3; i++) {
        CHECK(kill(child, SIGTSTP) == 0 && waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status));
        CHECK(shows());
        CHECK(kill(child, SIGCONT) == 0);
        /* Waits until the child has hidden the terminal again, or has died. */
        while (shows() && waitpid(child, &status, WNOHANG) == 0) usleep(1000);
        CHECK(!shows());
    }
    CHECK(write(keyboard, "\n", 1) == 1 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 8 && shows());
}

int main(void)
{
    void (*const tests[])(void) = {
        the_width_is_the_terminals,
        what_was_is_put_back,
        signals_that_end_a_program_show_the_terminal,
        a_program_that_is_stopped_shows_it_and_hides_it_again,
    };
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        open_terminal();
        tests[i]();
        close_terminal();
    }
    return report();
}
