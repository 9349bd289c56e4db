/* SPDX-License-Identifier: MIT */
#include "shape.h"

#include <stdlib.h>
#include <string.h>

enum { SCALAR_TYPES = PU_KIND_ANY + 1, GROWTH = 16 };

static void free_shape(pu_shape *shape)
{
    for (uint16_t i = 0; i < shape->count; i++) free(shape->keys[i].token);
    free(shape->keys);
    free(shape->index);
    free(shape->prefix);
}

void pu_plan_free(pu_plan *plan)
{
    if (!plan) return;
    for (uint16_t i = 0; i < plan->shape_count; i++) free_shape(&plan->shapes[i]);
    for (uint16_t i = 0; i < plan->slot_count; i++) free(plan->slots[i].name);
    free(plan->slots);
    free(plan->shapes);
    free(plan->types);
    free(plan);
}

/* Makes room for one element more in an array that grows by GROWTH elements. */
static enum pu_code room(void **array, uint16_t count, size_t size)
{
    if (count == PU_MAX_SLOTS) return PU_TOO_LARGE;
    if (count % GROWTH) return PU_OK;
    void *grown = realloc(*array, (size_t)(count + GROWTH) * size);
    if (!grown) return PU_NO_MEMORY;
    *array = grown;
    return PU_OK;
}

static enum pu_code add_type(pu_plan *plan, pu_type added, uint16_t *type)
{
    void *types = plan->types;
    enum pu_code code = room(&types, plan->type_count, sizeof *plan->types);
    if (code != PU_OK) return code;
    plan->types = types;
    *type = plan->type_count++;
    plan->types[*type] = added;
    return PU_OK;
}

enum pu_code pu_plan_list(pu_plan *plan, uint16_t item, uint16_t *type)
{
    return add_type(plan, (pu_type){.kind = PU_KIND_LIST, .item = item}, type);
}

enum pu_code pu_plan_record(pu_plan *plan, uint16_t shape, uint16_t *type)
{
    return add_type(plan, (pu_type){.kind = PU_KIND_RECORD, .shape = shape}, type);
}

enum pu_code pu_plan_either(pu_plan *plan, uint16_t item, uint16_t shape, uint16_t *type)
{
    return add_type(plan, (pu_type){.kind = PU_KIND_EITHER, .item = item, .shape = shape}, type);
}

enum pu_code pu_plan_shape(pu_plan *plan, uint16_t *shape)
{
    void *shapes = plan->shapes;
    enum pu_code code = room(&shapes, plan->shape_count, sizeof *plan->shapes);
    if (code != PU_OK) return code;
    plan->shapes = shapes;
    *shape = plan->shape_count++;
    plan->shapes[*shape] = (pu_shape){.first = PU_NO_KEY, .address = PU_NO_KEY, .memo = PU_NO_KEY};
    return PU_OK;
}

pu_plan *pu_plan_new(int64_t low, int64_t high)
{
    pu_plan *plan = calloc(1, sizeof *plan);
    if (!plan) return NULL;
    plan->low = low;
    plan->high = high;
    enum pu_code code = PU_OK;
    uint16_t number;
    for (int kind = PU_KIND_STRING; kind < SCALAR_TYPES && code == PU_OK; kind++)
        code = add_type(plan, (pu_type){.kind = (enum pu_kind)kind}, &number);
    if (code == PU_OK) code = pu_plan_shape(plan, &number); /* for `any` */
    if (code == PU_OK) return plan;
    pu_plan_free(plan);
    return NULL;
}

/* Finds or adds the slot of a name. Once the plan is sealed, the array has room for all learned names and never grows.
 */
static enum pu_code slot_of(pu_plan *plan, const char *name, size_t len, bool sealed, uint16_t *slot)
{
    for (uint16_t i = 0; i < plan->slot_count; i++) {
        if (plan->slots[i].len == len && memcmp(plan->slots[i].name, name, len) == 0) {
            *slot = i;
            return PU_OK;
        }
    }
    if (plan->slot_count == PU_MAX_SLOTS) return PU_TOO_LARGE;
    if (!sealed) {
        void *slots = plan->slots;
        enum pu_code code = room(&slots, plan->slot_count, sizeof *plan->slots);
        if (code != PU_OK) return code;
        plan->slots = slots;
    }
    char *copy = malloc(len + 1);
    if (!copy) return PU_NO_MEMORY;
    memcpy(copy, name, len);
    copy[len] = '\0';
    *slot = plan->slot_count++;
    plan->slots[*slot] = (pu_slot){copy, len};
    return PU_OK;
}

/* Makes a key with the token of a name. The caller counts the key in the shape after success. */
static enum pu_code make_key(pu_key *key, const char *name, size_t len)
{
    *key = (pu_key){.next = PU_NO_KEY, .token_len = (uint32_t)len + 3};
    key->token = malloc(len + 3);
    if (!key->token) return PU_NO_MEMORY;
    key->token[0] = '"';
    memcpy(key->token + 1, name, len);
    memcpy(key->token + 1 + len, "\":", 2);
    size_t head = key->token_len < 16 ? key->token_len : 16;
    memcpy(key->head, key->token, head);
    memset(key->mask, 0xFF, head);
    if (key->token_len > 16) memcpy(&key->tail, key->token + key->token_len - 8, 8);
    return PU_OK;
}

static bool plain_name(const char *name, size_t len)
{
    if (len == 0 || len > PU_LEARN_BYTES) return false;
    for (size_t i = 0; i < len; i++)
        if (name[i] < 0x20 || name[i] > 0x7E || name[i] == '"' || name[i] == '\\') return false;
    return true;
}

static bool names(const pu_key *key, const char *name, size_t len)
{
    return key->token_len == len + 3 && memcmp(key->token + 1, name, len) == 0;
}

static enum pu_code add_key(pu_plan *plan, pu_shape *shape, const char *name, size_t len, uint16_t slot, uint16_t type)
{
    if (!plain_name(name, len)) return PU_ARGUMENT;
    for (uint16_t i = 0; i < shape->count; i++)
        if (names(&shape->keys[i], name, len)) return PU_ARGUMENT;
    void *keys = shape->keys;
    enum pu_code code = room(&keys, shape->count, sizeof *shape->keys);
    if (code != PU_OK) return code;
    shape->keys = keys;
    pu_key *key = &shape->keys[shape->count];
    code = make_key(key, name, len);
    if (code != PU_OK) return code;
    key->slot = slot;
    key->type = type;
    key->kind = (uint8_t)plan->types[type].kind;
    shape->count++;
    return PU_OK;
}

enum pu_code pu_plan_field(pu_plan *plan, uint16_t shape, const char *name, size_t len, uint16_t type, uint16_t *key)
{
    pu_shape *to = &plan->shapes[shape];
    uint16_t slot;
    if (!plain_name(name, len)) return PU_ARGUMENT;
    enum pu_code code = slot_of(plan, name, len, false, &slot);
    if (code == PU_OK) code = add_key(plan, to, name, len, slot, type);
    if (code != PU_OK) return code;
    *key = (uint16_t)(to->count - 1);
    if (plan->types[type].kind == PU_KIND_ADDRESS) to->address = slot;
    if (len == 4 && memcmp(name, "memo", 4) == 0) to->memo = slot;
    return PU_OK;
}

enum pu_code pu_plan_alias(pu_plan *plan, uint16_t shape, uint16_t key, const char *name, size_t len)
{
    pu_shape *to = &plan->shapes[shape];
    return add_key(plan, to, name, len, to->keys[key].slot, to->keys[key].type);
}

enum pu_code pu_plan_prefix(pu_plan *plan, uint16_t shape, uint16_t key, const char *prefix, size_t len)
{
    pu_shape *to = &plan->shapes[shape];
    if (!plain_name(prefix, len) || to->prefix) return PU_ARGUMENT;
    to->prefix = malloc(len);
    if (!to->prefix) return PU_NO_MEMORY;
    memcpy(to->prefix, prefix, len);
    to->prefix_len = (uint32_t)len;
    to->prefix_slot = to->keys[key].slot;
    to->prefix_type = to->keys[key].type;
    return PU_OK;
}

bool pu_shape_prefixed(const pu_shape *shape, const char *name, size_t len)
{
    return shape->prefix && len > shape->prefix_len && memcmp(name, shape->prefix, shape->prefix_len) == 0 &&
           name[shape->prefix_len] >= 'A' && name[shape->prefix_len] <= 'Z';
}

static uint32_t hash(const char *name, size_t len)
{
    uint32_t sum = (uint32_t)len;
    for (size_t i = 0; i < len; i++) sum = (sum ^ (unsigned char)name[i]) * UINT32_C(0x01000193);
    return sum ^ sum >> 15;
}

static void enter(pu_shape *shape, uint16_t number)
{
    const pu_key *key = &shape->keys[number];
    uint32_t mask = (UINT32_C(1) << shape->index_bits) - 1;
    uint32_t place = hash(key->token + 1, key->token_len - 3) & mask;
    while (shape->index[place] != PU_NO_KEY) place = (place + 1) & mask;
    shape->index[place] = number;
}

uint16_t pu_shape_find(const pu_shape *shape, const char *name, size_t len)
{
    uint32_t mask = (UINT32_C(1) << shape->index_bits) - 1;
    uint32_t place = hash(name, len) & mask;
    while (shape->index[place] != PU_NO_KEY) {
        if (names(&shape->keys[shape->index[place]], name, len)) return shape->index[place];
        place = (place + 1) & mask;
    }
    return PU_NO_KEY;
}

uint16_t pu_shape_learn(pu_plan *plan, pu_shape *shape, const char *name, size_t len)
{
    if (shape->count == shape->capacity || len > PU_LEARN_BYTES) return PU_NO_KEY;
    pu_key *key = &shape->keys[shape->count];
    uint16_t slot = shape->prefix_slot, type = shape->prefix_type;
    if (!pu_shape_prefixed(shape, name, len)) {
        if (slot_of(plan, name, len, true, &slot) != PU_OK) return PU_NO_KEY;
        type = PU_KIND_ANY;
    }
    if (make_key(key, name, len) != PU_OK) return PU_NO_KEY;
    key->slot = slot;
    key->type = type;
    key->kind = (uint8_t)plan->types[type].kind;
    enter(shape, shape->count);
    return shape->count++;
}

/* Makes room for the names that a shape will learn, and an index that stays at most half full. */
static enum pu_code seal_shape(pu_shape *shape, uint16_t learn)
{
    shape->capacity = (uint16_t)(shape->count + learn);
    pu_key *keys = realloc(shape->keys, shape->capacity * sizeof *keys);
    if (!keys) return PU_NO_MEMORY;
    shape->keys = keys;
    while ((1U << shape->index_bits) < 2U * shape->capacity) shape->index_bits++;
    shape->index = malloc(sizeof *shape->index << shape->index_bits);
    if (!shape->index) return PU_NO_MEMORY;
    memset(shape->index, 0xFF, sizeof *shape->index << shape->index_bits);
    for (uint16_t i = 0; i < shape->count; i++) enter(shape, i);
    /* Before the first record, the declared order is the best guess. */
    for (uint16_t i = 0; i + 1 < shape->count; i++) shape->keys[i].next = (uint16_t)(i + 1);
    shape->first = shape->count ? 0 : PU_NO_KEY;
    return PU_OK;
}

enum pu_code pu_plan_seal(pu_plan *plan, uint16_t root)
{
    size_t room_for = plan->slot_count;
    for (uint16_t i = 0; i < plan->shape_count; i++) {
        uint16_t learn = i == 0 ? PU_LEARN_ANY : PU_LEARN_SHAPE;
        enum pu_code code = seal_shape(&plan->shapes[i], learn);
        if (code != PU_OK) return code;
        room_for += learn;
    }
    if (room_for > PU_MAX_SLOTS) room_for = PU_MAX_SLOTS;
    pu_slot *slots = realloc(plan->slots, room_for * sizeof *slots);
    if (!slots) return PU_NO_MEMORY;
    plan->slots = slots;
    plan->slot_room = (uint16_t)room_for;
    plan->root = root;
    return PU_OK;
}
