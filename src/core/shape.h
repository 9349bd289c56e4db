/* SPDX-License-Identifier: MIT */
/* Compiled shapes: facts of a decoder about documents, known before the first document and learned.
 *
 * A plan owns types, shapes and the names of members. A plan is built once (the pu_plan_* calls below, then
 * pu_plan_seal) for any number of decodings. Decodings write into the plan only learned facts: the order and number of
 * members, and a fixed number of undeclared names. Learning changes the speed and never the result, so two decodings
 * at once (by a Lua finaliser) do no harm. Not thread-safe.
 *
 * A *slot* is a distinct name under which a value is delivered; a *key* is a spelling of a member's name within a
 * shape and leads to a slot. Aliases are further keys of a slot. */
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
    PU_KIND_LIST,   /* of another type */
    PU_KIND_RECORD, /* of a shape */
    PU_KIND_EITHER, /* a record of a shape, or a list of another type */
};

enum {
    PU_MAX_SLOTS = 1024, /* names in a plan, with learned names */
    PU_LEARN_SHAPE = 24, /* undeclared names a shape remembers */
    PU_LEARN_ANY = 64,   /* names the objects of type `any` remember, together */
    PU_LEARN_BYTES = 64, /* longest name to remember */
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
    char *token;               /* `"name":`, the bytes a member is expected to begin with */
    uint32_t token_len;
    uint16_t slot, type;
    uint16_t next; /* the key that followed in the last record */
    uint8_t kind;  /* the kind of the type */
} pu_key;

typedef struct pu_shape {
    pu_key *keys;
    uint16_t *index; /* hash of a name to a key; as large as 2^index_bits */
    uint16_t count, capacity, index_bits;
    uint16_t first;         /* the first key of the last record */
    uint16_t size;          /* number of members in the last record with a container */
    uint16_t address, memo; /* slots, or PU_NO_KEY */
    char *prefix;           /* NULL, or names with this beginning lead to prefix_slot */
    uint32_t prefix_len;
    uint16_t prefix_slot, prefix_type;
} pu_shape;

typedef struct pu_slot {
    char *name;
    size_t len;
} pu_slot;

typedef struct pu_plan {
    pu_type *types;   /* the first types are PU_KIND_STRING to PU_KIND_ANY, each at the number of the kind */
    pu_shape *shapes; /* the first shape belongs to `any` */
    pu_slot *slots;
    uint16_t type_count, shape_count, slot_count;
    uint16_t slot_room; /* maximum of slots */
    uint16_t root;
    int64_t low, high;    /* the integers the host holds exactly */
    bool last_wins;       /* a member that comes twice in a record has the last value; else the document is refused */
    struct pu_plan *next; /* for a list of the owner */
} pu_plan;

/* An empty plan, or NULL without memory. */
pu_plan *pu_plan_new(int64_t low, int64_t high);
void pu_plan_free(pu_plan *plan);

/* Each adds an entry and gives a number. PU_NO_MEMORY, PU_TOO_LARGE, or PU_ARGUMENT for a name that is empty, taken
 * already in the shape, or not printable ASCII free of quotes and backslashes. After a failure, only free the plan. */
enum pu_code pu_plan_list(pu_plan *plan, uint16_t item, uint16_t *type);
enum pu_code pu_plan_record(pu_plan *plan, uint16_t shape, uint16_t *type);
enum pu_code pu_plan_either(pu_plan *plan, uint16_t item, uint16_t shape, uint16_t *type);
enum pu_code pu_plan_shape(pu_plan *plan, uint16_t *shape);
enum pu_code pu_plan_field(pu_plan *plan, uint16_t shape, const char *name, size_t len, uint16_t type, uint16_t *key);
enum pu_code pu_plan_alias(pu_plan *plan, uint16_t shape, uint16_t key, const char *name, size_t len);
enum pu_code pu_plan_prefix(pu_plan *plan, uint16_t shape, uint16_t key, const char *prefix, size_t len);

/* Ends the building: documents will be of type `root`. Makes room for learned names, so that nothing in the plan moves
 * afterwards. */
enum pu_code pu_plan_seal(pu_plan *plan, uint16_t root);

/* The key of a member's name (unescaped), or PU_NO_KEY. */
uint16_t pu_shape_find(const pu_shape *shape, const char *name, size_t len);

/* Remembers a name the shape does not declare and returns a key, or PU_NO_KEY without room. The name stood between
 * quotes without escapes; the same bytes are recognised again. */
uint16_t pu_shape_learn(pu_plan *plan, pu_shape *shape, const char *name, size_t len);

/* Tells whether an undeclared name begins with the shape's prefix. */
bool pu_shape_prefixed(const pu_shape *shape, const char *name, size_t len);

#pragma GCC visibility pop
#endif
