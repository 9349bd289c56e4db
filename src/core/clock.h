/* SPDX-License-Identifier: MIT */
/* Two clocks, and a pause. Thread-safe. */
#ifndef PURSER_CORE_CLOCK_H
#define PURSER_CORE_CLOCK_H

#include <stdint.h>
#pragma GCC visibility push(hidden)

int64_t pu_now_ms(void);       /* milliseconds since the Unix epoch; jumps when somebody sets the clock */
int64_t pu_monotonic_us(void); /* microseconds from an arbitrary start; never jumps */
void pu_sleep_ms(int64_t ms);  /* 0 or less returns at once; a signal handler ends the pause early */

#pragma GCC visibility pop
#endif
