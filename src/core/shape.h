/* SPDX-License-Identifier: MIT */
/* A plan: the declared types of a document, compiled for the decoder.
 *
 * A plan owns types, shapes (the members of a record) and names. The owner builds a plan once, by the pu_plan_*
 * functions and then pu_plan_seal, for any number of decodings. Decodings write only learned facts into the plan: the
 * order and number of members, and a limited number of undeclared names. Learned facts change the speed and never the
 * result, so a decoding inside another (by a Lua finaliser) does no harm. Not thread-safe.
 *
 * A *slot* is a name under which the sink gets a value. A *key* is a spelling of a member's name in a shape, and leads
 * to a slot. An alias is a further key of a slot. */
#ifndef PURSER_CORE_SHAPE_H
#define PURSER_CORE_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"
#pragma GCC visibility push(hidden)

enum pu_kind {
    PU_KIND_STRING,
    PU_KIND_INTEGER,
    PU_KIND_BOOLEAN,
    PU_KIND_ADDRESS,
    PU_KIND_ANY,
    PU_KIND_LIST,   /* a list of elements of another type */
    PU_KIND_RECORD, /* an object of a shape */
    PU_KIND_EITHER, /* an object of a shape, or a list of elements of another type */
};

enum {
    PU_MAX_SLOTS = 1024, /* names in a plan, learned names included */
    PU_LEARN_SHAPE = 24, /* undeclared names that a shape learns */
    PU_LEARN_ANY = 64,   /* names that all objects of type `any` together learn */
    PU_LEARN_BYTES = 64, /* longest declared or learned name */
    PU_NO_KEY = 0xFFFF
};

typedef struct pu_type {
    enum pu_kind kind;
    uint16_t item;   /* PU_KIND_LIST, PU_KIND_EITHER: the type of the elements */
    uint16_t shape;  /* PU_KIND_RECORD, PU_KIND_EITHER: the shape */
    uint32_t length; /* elements of the last list of the type */
} pu_type;

typedef struct pu_key {
    uint64_t head[2], mask[2]; /* the first 16 bytes of the token, and a mask of the bytes that count */
    uint64_t tail;             /* the last eight bytes of a longer token */
    char *token;               /* `"name":`, the first bytes of a member, not NUL-terminated */
    uint32_t token_len;
    uint16_t slot, type;
    uint16_t next; /* the key that followed in the latest record */
    uint8_t kind;  /* types[type].kind, at hand for the decoder */
} pu_key;

typedef struct pu_shape {
    pu_key *keys;
    uint16_t *index; /* hash table of 2^index_bits places: a name's hash to a number of `keys`, or PU_NO_KEY */
    uint16_t count, capacity, index_bits;
    uint16_t first;         /* the first key of the latest record */
    uint16_t size;          /* members of the latest record that was flushed before the end */
    uint16_t address, memo; /* slots of an `address:memo` to be split, or PU_NO_KEY */
    char *prefix;           /* names that begin with `prefix` and a capital letter lead to prefix_slot; or NULL */
    uint32_t prefix_len;
    uint16_t prefix_slot, prefix_type;
} pu_shape;

typedef struct pu_slot {
    char *name;
    size_t len;
} pu_slot;

typedef struct pu_plan {
    pu_type *types;   /* types[kind] is the scalar type, for PU_KIND_STRING to PU_KIND_ANY */
    pu_shape *shapes; /* shapes[0] is the shape of all objects of type `any` */
    pu_slot *slots;
    uint16_t type_count, shape_count, slot_count;
    uint16_t slot_room;   /* capacity of `slots` after pu_plan_seal */
    uint16_t root;        /* type of a document */
    int64_t low, high;    /* an integer outside is delivered as text */
    bool last_wins;       /* a repeated member has the last value; false: a repetition rejects the document */
    struct pu_plan *next; /* for a list of the owner; unused by the decoder */
} pu_plan;

/* Returns an empty plan, to be freed by pu_plan_free; NULL without memory. `low` and `high` bound the integers that the
 * host language represents exactly. */
pu_plan *pu_plan_new(int64_t low, int64_t high);
/* NULL is accepted. */
void pu_plan_free(pu_plan *plan);

/* Add a type, shape or key, and set *type, *shape or *key to the number. Names are copied. PU_ARGUMENT: a name that is
 * empty, over PU_LEARN_BYTES, already used in the shape, or not printable ASCII without quotes and backslashes; a
 * second prefix. Also PU_NO_MEMORY and PU_TOO_LARGE. After a failure, only pu_plan_free may be called. */
enum pu_code pu_plan_list(pu_plan *plan, uint16_t item, uint16_t *type);
enum pu_code pu_plan_record(pu_plan *plan, uint16_t shape, uint16_t *type);
enum pu_code pu_plan_either(pu_plan *plan, uint16_t item, uint16_t shape, uint16_t *type);
enum pu_code pu_plan_shape(pu_plan *plan, uint16_t *shape);
enum pu_code pu_plan_field(pu_plan *plan, uint16_t shape, const char *name, size_t len, uint16_t type, uint16_t *key);
enum pu_code pu_plan_alias(pu_plan *plan, uint16_t shape, uint16_t key, const char *name, size_t len);
enum pu_code pu_plan_prefix(pu_plan *plan, uint16_t shape, uint16_t key, const char *prefix, size_t len);

/* Ends the building; `root` is the type of a document. Makes room for learned names, so that later no array of the plan
 * moves. PU_NO_MEMORY as above. */
enum pu_code pu_plan_seal(pu_plan *plan, uint16_t root);

/* Returns the key of a member's name (without escapes), or PU_NO_KEY. */
uint16_t pu_shape_find(const pu_shape *shape, const char *name, size_t len);

/* Adds a key for an undeclared name, as found between the quotes, without escapes. Returns PU_NO_KEY if the plan or the
 * shape is full, the name too long, or memory short. */
uint16_t pu_shape_learn(pu_plan *plan, pu_shape *shape, const char *name, size_t len);

/* Tells whether a name begins with the shape's prefix and a capital letter. */
bool pu_shape_prefixed(const pu_shape *shape, const char *name, size_t len);

#pragma GCC visibility pop
#endif
