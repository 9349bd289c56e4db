/* SPDX-License-Identifier: MIT
 *
 * A model of the write call, checked over every interleaving by model_test.lua (`make test ROOM=spec/model`).
 * docs/contributing/payouts-tests.md says what it leaves out.
 *
 * Two keys of one account, whose calls have equal content or not, and two processes. Either both run one key, so that a
 * call has its repeat in another process, or each runs its own, as two workers of a queue do. A process may stop anywhere
 * for any time, and may be killed anywhere DEATHS times; it starts again and remembers nothing. The journal has
 * transactions (`atomic`). The service loses requests and answers, executes a request late, shows a record late, may show
 * no ids and may spell what it shows in a way of its own.
 *
 * S1 to S11 are the sentences of docs/write/outcomes.md. Each -DWITHOUT_... takes one out, and the check must then fail. S4
 * says that a client without a journal keeps the same rows in memory: the model cannot tell the two apart.
 */
#ifndef DEATHS
#define DEATHS 1
#endif
#define KEYS 2
#ifdef ONE_KEY
#define MINE(key) (key == 0 && !IS_OVER(0))
#else
#define MINE(key) (key == me && !IS_OVER(key))
#endif
#ifndef ATTEMPTS
#define ATTEMPTS 2
#endif
#define RECORDS 5
#define WINDOW 1                 /* recv_window: the service executes a request while clock <= stamp + WINDOW */
#define LATE 1                   /* a record shows at most so much later than it was made */
#ifndef LAST_SEND
#define LAST_SEND 3
#endif                           /* after that no attempt begins, so that the model is finite */
#define END_OF_TIME (LAST_SEND + WINDOW + LATE + 1)

#define NONE 0
#define OPEN 1
#define DONE 2
#define NOT_DONE 3
#define UNDECIDED 4

/* What the service is like. The client knows none of it. */
bool equal;                      /* the two calls have the same content */
bool shows_ids, shows_content;   /* a record shows the id, and the content, as they were sent */

byte clock;

/* S3: one row a call, each fact in a column. record: which record is the call's, 0: none; answered: its answer named it. */
typedef Row { byte state; byte stamp; byte attempts; byte record; bool answered }
Row row[KEYS];

/* The service's books: record i + 1 is of key maker[i], was made at made[i] and shows from shown[i] on; 0: it shows. */
byte records, maker[RECORDS], made[RECORDS], shown[RECORDS];

byte waits[2], answer[2];        /* the request a process waits for; the record that its answer names, 0: none came */
chan net = [2] of { byte, byte, byte };
byte deaths, lost_pages;
bool is_first = true;            /* the two processes are alike: the one that begins first is called 0 */

#define REQUEST(k, stamp) ((k) * 16 + (stamp) + 1)

inline choose(bit_) { if :: bit_ = false :: bit_ = true fi }

/* How often the content of a key was executed, and how many rows of that content are done, or may still be. Where ids or
 * contents tell the calls apart this is of the key alone; equal calls are fungible (S10): no money depends on which. */
#define SAME(a, b) ((a) == (b) || (equal && !shows_ids))
#define MADE(k, i) (records > i && SAME(maker[i], k))
#define EXECUTED(k) (MADE(k, 0) + MADE(k, 1) + MADE(k, 2) + MADE(k, 3) + MADE(k, 4))
#define IS_DONE(k, j) (SAME(k, j) && row[j].state == DONE)
#define MAY_BE(k, j) (SAME(k, j) && (row[j].state == DONE || row[j].state == OPEN || row[j].state == UNDECIDED))

/* The claims: nothing is executed more often than it was asked for, `done` and `not_done` are never false. */
inline check_claims(k) {
  assert(IS_DONE(k, 0) + IS_DONE(k, 1) <= EXECUTED(k));
  assert(EXECUTED(k) <= MAY_BE(k, 0) + MAY_BE(k, 1))
}

#define WAITS_FOR(k) (row[k].stamp + WINDOW + LATE)
#define IS_OVER(k) (row[k].state == DONE || row[k].state == UNDECIDED || \
  (row[k].state == NOT_DONE && (row[k].attempts == ATTEMPTS || clock > LAST_SEND)))

#define IF_LATE(i) (shown[i] > clock -> shown[i] : 0)

active proctype Clock() {
  do
  :: d_step { clock < END_OF_TIME -> clock++;
      shown[0] = IF_LATE(0); shown[1] = IF_LATE(1); shown[2] = IF_LATE(2); shown[3] = IF_LATE(3); shown[4] = IF_LATE(4) }
  :: clock == END_OF_TIME -> break
  od
}

active proctype Service() {
  byte k, stamp, process; bool late;
end:
  do
  :: atomic { net ? k, stamp, process;                 /* perhaps long after it was sent */
      if
      :: skip                                          /* the request is lost on the way; or only the answer, see below */
      :: 
#ifndef WITHOUT_STAMP
        clock <= stamp + WINDOW ->
#endif
        choose(late);
        assert(records < RECORDS);
        maker[records] = k; made[records] = clock; shown[records] = (late -> clock + LATE : 0);
        records++;
        check_claims(k);
        if :: waits[process] == REQUEST(k, stamp) -> answer[process] = records :: else fi;
        late = false
      fi;
      k = 0; stamp = 0; process = 0 }
  od
}

/* A record's owner is the call whose answer named it, or whose id it shows (S7). */
#ifdef WITHOUT_CLAIMS
#define CLAIMED(i) false
#else
#define CLAIMED(i) (row[0].record == i + 1 || row[1].record == i + 1 )
#endif
#ifdef WITHOUT_ONE_OWNER
#define TAKEN(i) false
#else
#define TAKEN(i) CLAIMED(i)      /* S7: a record has one owner, the first: another's answer proves nothing */
#endif
#define IN_WINDOW(k, i) (made[i] >= row[k].stamp && made[i] <= row[k].stamp + WINDOW)
#define SEEN(i) ((seen >> i) & 1)
#define LOOKS_EQUAL(k, i) (shows_content && (equal || maker[i] == k))
/* S8: a witness is an answered call that this reading shows. Only where it shows what was sent does a difference prove
 * anything. */
#define WITNESS_OF(j, i) (SEEN(i) && row[j].answered && row[j].record == i + 1 && shows_content)
#ifdef WITHOUT_WITNESS
#define WITNESS true
#else
#define WITNESS (WITNESS_OF(0, 0) || WITNESS_OF(0, 1) || WITNESS_OF(0, 2) || WITNESS_OF(0, 3) || WITNESS_OF(0, 4) || \
  WITNESS_OF(1, 0) || WITNESS_OF(1, 1) || WITNESS_OF(1, 2) || WITNESS_OF(1, 3) || WITNESS_OF(1, 4))
#endif
/* Whether record i, unclaimed, may be that of call k. */
#define CANDIDATE(k, i) (SEEN(i) && !CLAIMED(i) && IN_WINDOW(k, i) && \
  (shows_ids -> maker[i] == k : LOOKS_EQUAL(k, i) || !WITNESS))
#define COUNT(k) (CANDIDATE(k, 0) + CANDIDATE(k, 1) + CANDIDATE(k, 2) + CANDIDATE(k, 3) + CANDIDATE(k, 4))
#define RIVAL(k) (row[1 - k].state == OPEN || row[1 - k].state == UNDECIDED)
#define RIVALS(k, i) (RIVAL(k) && CANDIDATE(1 - k, i))
/* Once call k has record i, and record or no record is left to the other: each other unclaimed record in k's window must
 * still have an owner. */
#define STRAY(k, i, j) (j != i && CANDIDATE(k, j) && !RIVALS(k, j))
#ifdef WITHOUT_MATCHING
#define STRAYS(k, i) 0
#else
#define STRAYS(k, i) (STRAY(k, i, 0) + STRAY(k, i, 1) + STRAY(k, i, 2) + STRAY(k, i, 3) + STRAY(k, i, 4))
#endif

/* What one reading of the history proves of call k (S5: the one question). `past`: it began after the deadline of k and
 * of every open call that could own the same records (S11). */
inline conclude(k) {
  i = 0;
  do
  :: i < RECORDS && CANDIDATE(k, i) &&
      (shows_ids                                                    /* S7: its own id */
#ifdef WITHOUT_RIVALS
        || LOOKS_EQUAL(k, i)
#else
        || (LOOKS_EQUAL(k, i) && COUNT(k) == 1 && !RIVALS(k, i))    /* S9: nobody else can own it */
        || (LOOKS_EQUAL(k, i) && past && STRAYS(k, i) == 0          /* S10: equal calls, each record has an owner */
            && COUNT(k) <= 2 && (COUNT(k) < 2 || RIVAL(k)) && !(COUNT(1 - k) > 1 && RIVAL(k)))
#endif
      ) ->
      row[k].record = i + 1; row[k].state = DONE; break
  :: else -> if :: i < RECORDS -> i++ :: else -> break fi
  od;
  if
  :: row[k].state == OPEN && past && whole ->                       /* S6: a whole reading alone proves an absence */
    if
#ifdef WITHOUT_ABSENCE_RULE
    :: true -> row[k].state = NOT_DONE                              /* S7: a record shown otherwise is no absence */
#else
    :: COUNT(k) == 0 -> row[k].state = NOT_DONE
    :: COUNT(k) > 0 -> row[k].state = UNDECIDED
#endif
    fi
  :: else
  fi;
  check_claims(k); i = 0
}

#ifdef WITHOUT_ATTEMPT
#define THEIRS (row[k].state == OPEN)
#else
#define THEIRS (row[k].state == OPEN && row[k].stamp == stamp)
#endif
/* Every request of this call, and of an open call that may own the same records, has been executed or never will be, and
 * its record shows. */
#ifdef WITHOUT_WAIT
#define PAST true
#else
#define PAST (clock > WAITS_FOR(k) && (row[1 - k].state != OPEN || clock > WAITS_FOR(1 - k)))
#endif
#define MAY_DIE :: deaths < DEATHS -> deaths++; goto again

/* A process: a script, its repeat, a worker of a queue. */
proctype Process(byte me) {
  byte k, stamp, seen, i; bool past, whole;
#ifdef WITHOUT_ONE_INSERT
  bool free;
#define FREE free
#else
#define FREE (row[k].state == NONE)
#endif
again:
  atomic {
    if :: is_first -> is_first = false; run Process(1) :: else fi;
    k = 0; stamp = 0; seen = 0; i = 0; past = false; whole = false; answer[me] = 0; waits[me] = 0;
    if
    :: MINE(0) -> k = 0
    :: MINE(1) -> k = 1
    :: else -> goto ended
    fi;
#ifdef WITHOUT_ONE_INSERT
    free = (row[k].state == NONE)                                   /* look, then insert */
  }
  atomic {
#endif
    if                                                              /* S1, S2: the key's row, taken or found, in one step */
    :: (FREE || row[k].state == NOT_DONE) && !IS_OVER(k) && clock <= LAST_SEND ->
      row[k].state = OPEN; row[k].stamp = clock; row[k].attempts++; row[k].record = 0; row[k].answered = false;
      stamp = clock; check_claims(k)
#ifdef WITHOUT_KEY
    :: row[k].state != NONE && row[k].attempts < ATTEMPTS && clock <= LAST_SEND ->
      row[k].state = OPEN; row[k].stamp = clock; row[k].attempts++; stamp = clock; check_claims(k)
#endif
#ifdef WITHOUT_QUESTION
    :: row[k].state == OPEN && row[k].attempts < ATTEMPTS && clock <= LAST_SEND ->
      row[k].stamp = clock; row[k].attempts++; stamp = clock; check_claims(k)
#else
    :: row[k].state == OPEN -> stamp = row[k].stamp; goto find_out
#endif
    :: else ->
      if :: row[k].state == NONE -> row[k].state = NOT_DONE; row[k].attempts = ATTEMPTS :: else fi;
      goto again
    fi
  }
  if
  :: atomic { net ! k, stamp, me; waits[me] = REQUEST(k, stamp) }   /* perhaps long after the row was written */
  MAY_DIE
  fi;
  if
  :: atomic { answer[me] > 0 ->
      if
      :: row[k].state == OPEN && row[k].stamp == stamp && !TAKEN(answer[me] - 1) ->
        row[k].state = DONE; row[k].record = answer[me]; row[k].answered = true; check_claims(k)
      :: else
      fi;
      goto again }
  :: atomic { answer[me] = 0; waits[me] = 0 }                       /* lost, or too late: nobody knows */
  MAY_DIE
  fi;
find_out:
  if
  :: !THEIRS -> goto again                                          /* another process found out */
  :: skip                                                           /* an early look, for `done` */
  :: atomic { PAST -> past = true }
  MAY_DIE
  fi;
read:
  skip;
  d_step {                                                          /* the history as it shows now */
    whole = true; i = 0; seen = 0;
    do
    :: i < records && shown[i] <= clock -> seen = seen | (1 << i); i++
    :: i < records && shown[i] > clock -> i++
    :: i >= records -> break
    od;
    i = 0
  }
  if
  :: skip
  :: lost_pages < 1 -> lost_pages++; seen = 0;                      /* a page is lost: the reading says that it is not whole */
#ifndef WITHOUT_WHOLE
    whole = false
#endif
  MAY_DIE
  fi;
  atomic {
    if                                                              /* S3: what was read is of this attempt alone */
    :: THEIRS -> conclude(k)
    :: else
    fi;
    seen = 0; whole = false;
    if
    :: !past && THEIRS -> goto wait
    :: else -> goto again
    fi
  }
wait:
  if
  :: atomic { PAST -> past = true; goto read }
  :: !THEIRS -> goto again
  fi;
ended: skip
}

/* A record that shows its id belongs to one key, as every record does where there is one key: contents tell nothing there. */
init {
  atomic {
    choose(shows_ids);
    if
    :: shows_ids -> shows_content = true
    :: else ->
      choose(shows_content);
#ifndef ONE_KEY
      choose(equal)
#endif
    fi;
    run Process(0)
  }
}
