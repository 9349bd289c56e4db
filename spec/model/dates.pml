/* SPDX-License-Identifier: MIT
 *
 * A model of the dates of witnesses (lua/purser/write/verdict.lua), checked by model_test.lua: does a call's own record
 * ever pass for another's, at a service that changes how records show members?
 *
 * Calls of one kind follow each other. The service alters at most two of three members of their records at once, and may
 * change that between any two calls; where two are altered, a call of that time is answered before the service changes
 * again (docs/write/outcomes.md says that no rule knows more). One call is lost, and its record shows no id. The question
 * may be asked at any time afterwards.
 *
 * Each -DWITHOUT_... takes a sentence out, and the check must then fail.
 */
#ifndef CALLS
#define CALLS 4
#endif
#define MEMBERS 3
#define NONE 9

byte altered;                    /* a bit a member: what the service alters now */
bool met = true;                 /* a call was answered since the service began to alter these */
byte now;                        /* the number of the call */
byte own = NONE, shows;          /* the lost call, and what its record shows otherwise than it was sent */

byte first[MEMBERS] = NONE, last[MEMBERS] = NONE; /* the first and the last call that shows a member as sent */
bool otherwise[MEMBERS];         /* a record shows a change of the member */

#define HAS(set, m) (((set) >> (m)) & 1)
#define IS_TWO(set) ((set) == 3 || (set) == 5 || (set) == 6)

/* A member is known where a witness shows it as sent, and no record shows a change. */
#ifdef WITHOUT_OTHERWISE
#define KNOWN(m) (first[m] != NONE)
#else
#define KNOWN(m) (first[m] != NONE && !otherwise[m])
#endif

/* A difference counts three between two witnesses, and two where they are on one side. */
#ifdef WITHOUT_DATE
#define WEIGHT(m) 3
#else
#define WEIGHT(m) (first[m] < own && last[m] > own -> 3 : 2)
#endif
#define COUNT(m) (HAS(shows, m) && KNOWN(m) -> WEIGHT(m) : 0)

/* Two known members must differ between witnesses, three otherwise. */
#ifdef WITHOUT_TWO
#define LIMIT 3
#else
#define LIMIT 6
#endif

inline note(m, as_sent) {
  if
  :: as_sent -> first[m] = (first[m] == NONE -> now : first[m]); last[m] = now
  :: else -> otherwise[m] = true
  fi
}

active proctype World() {
  byte set;
  select(altered : 0 .. 6);
end:
  do
  :: atomic { now < CALLS && own == NONE -> own = now; shows = altered; now++ }
  :: atomic { now < CALLS ->                           /* answered: its record is a witness */
      note(0, !HAS(altered, 0)); note(1, !HAS(altered, 1)); note(2, !HAS(altered, 2));
      met = true; now++ }
  :: atomic { now < CALLS ->                           /* found by content: a stranger's record, perhaps */
#ifdef WITHOUT_ANSWER
      note(0, true); note(1, true); note(2, true);
#endif
      now++ }
  :: atomic { met || !IS_TWO(altered) -> select(set : 0 .. 6); altered = set; set = 0; met = false }
  :: atomic { own != NONE -> assert(COUNT(0) + COUNT(1) + COUNT(2) < LIMIT) }
  od
}
