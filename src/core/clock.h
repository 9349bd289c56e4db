/* SPDX-License-Identifier: MIT */
/* The two clocks and the one way to wait. */
#ifndef PURSER_CORE_CLOCK_H
#define PURSER_CORE_CLOCK_H

#include <stdint.h>
#pragma GCC visibility push(hidden)

int64_t pu_now_ms(void);       /* Unix epoch milliseconds; jumps when the clock is set */
int64_t pu_monotonic_us(void); /* microseconds from an arbitrary start; never jumps */
void pu_sleep_ms(int64_t ms);  /* returns early only when a signal handler ran; 0 and less return at once */

#pragma GCC visibility pop
#endif
