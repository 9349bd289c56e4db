/* SPDX-License-Identifier: MIT */
/* Plans for the decoder's C tests and the fuzz target: sample_plan has every kind of type, plain_plan has no shape. */
#ifndef PURSER_SPEC_SAMPLE_PLAN_H
#define PURSER_SPEC_SAMPLE_PLAN_H

#include <string.h>

#include "shape.h"

static inline uint16_t sample_field(pu_plan *plan, uint16_t shape, const char *name, uint16_t type)
{
    uint16_t key = PU_NO_KEY;
    (void)pu_plan_field(plan, shape, name, strlen(name), type, &key);
    return key;
}

/* A list of records { id, time (alias tiem), open, address, memo, fee (a prefix), any, names = [string], many = one or
 * many of {coin}, self = [record] }. */
static inline pu_plan *sample_plan(void)
{
    pu_plan *plan = pu_plan_new(INT64_MIN, INT64_MAX);
    uint16_t shape, coin, records, names, many, item, record, key;
    if (!plan || pu_plan_shape(plan, &shape) || pu_plan_shape(plan, &coin)) return NULL;
    if (pu_plan_record(plan, shape, &record) || pu_plan_list(plan, record, &records)) return NULL;
    if (pu_plan_list(plan, PU_KIND_STRING, &names)) return NULL;
    if (pu_plan_record(plan, coin, &item) || pu_plan_either(plan, item, coin, &many)) return NULL;
    sample_field(plan, coin, "coin", PU_KIND_STRING);
    sample_field(plan, shape, "id", PU_KIND_STRING);
    key = sample_field(plan, shape, "time", PU_KIND_INTEGER);
    if (pu_plan_alias(plan, shape, key, "tiem", 4)) return NULL;
    sample_field(plan, shape, "open", PU_KIND_BOOLEAN);
    sample_field(plan, shape, "address", PU_KIND_ADDRESS);
    sample_field(plan, shape, "memo", PU_KIND_STRING);
    key = sample_field(plan, shape, "fee", PU_KIND_STRING);
    if (pu_plan_prefix(plan, shape, key, "fee", 3)) return NULL;
    sample_field(plan, shape, "any", PU_KIND_ANY);
    sample_field(plan, shape, "names", names);
    sample_field(plan, shape, "many", many);
    sample_field(plan, shape, "self", records);
    return pu_plan_seal(plan, records) == PU_OK ? plan : NULL;
}

static inline pu_plan *plain_plan(void)
{
    pu_plan *plan = pu_plan_new(INT64_MIN, INT64_MAX);
    return plan && pu_plan_seal(plan, PU_KIND_ANY) == PU_OK ? plan : NULL;
}

#endif
