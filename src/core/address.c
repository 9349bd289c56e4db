/* SPDX-License-Identifier: MIT */
#include "address_codec.h"

#include <stdio.h>
#include <string.h>

struct pu_address *pu_found_add(struct pu_found *found, const char *family, enum pu_address_state state,
                                const char *note)
{
    if (found->count < PU_ADDRESS_READINGS_MAX) found->count++;
    struct pu_address *one = found->list + found->count - 1;
    one->family = family;
    one->state = state;
    one->note = note;
    one->is_checked = false;
    one->payee[0] = one->plain[0] = one->memo[0] = one->name[0] = '\0';
    return one;
}

void pu_payee_bytes(struct pu_address *address, const char *space, const char *kind, const unsigned char *bytes,
                    size_t len)
{
    int front = snprintf(address->payee, sizeof address->payee, *kind ? "%s:%s:" : "%s:", space, kind);
    size_t used = (size_t)front;
    for (size_t i = 0; i < len && used + 2 < sizeof address->payee; i++) {
        address->payee[used++] = "0123456789abcdef"[bytes[i] >> 4];
        address->payee[used++] = "0123456789abcdef"[bytes[i] & 15];
    }
    address->payee[used] = '\0';
}

void pu_payee_text(struct pu_address *address, const char *space, const char *text, size_t len)
{
    snprintf(address->payee, sizeof address->payee, "%s:%.*s", space, (int)len, text);
}

void pu_payee_evm(struct pu_address *address, const unsigned char account[20])
{
    pu_payee_bytes(address, "evm", "", account, 20);
}

/* A stable sort: readings with a checksum first. A moved reading with a `name` needs `family` set to the new place. */
static void put_checked_first(struct pu_found *found)
{
    for (int i = 1; i < found->count; i++) {
        struct pu_address one = found->list[i];
        int at = i;
        for (; at > 0 && one.is_checked && !found->list[at - 1].is_checked; at--) {
            found->list[at] = found->list[at - 1];
            if (*found->list[at].name) found->list[at].family = found->list[at].name;
        }
        found->list[at] = one;
        if (*one.name) found->list[at].family = found->list[at].name;
    }
}

/* Tells whether a reading makes the families of pu_read_unchecked unlikely. */
static bool is_sure(const struct pu_address *one)
{
    static const char *const families[] = {"hbar", "fil", "evm", "ron", "xdc"};
    for (size_t i = 0; i < sizeof families / sizeof *families; i++)
        if (strcmp(one->family, families[i]) == 0) return true;
    return one->is_checked || one->state == PU_ADDRESS_APART;
}

int pu_address_read(const char *text, size_t len, struct pu_address list[PU_ADDRESS_READINGS_MAX])
{
    struct pu_found found = {list, 0, false};
    if (len == 0 || len >= PU_ADDRESS_TEXT_MAX) return 0;
    for (size_t i = 0; i < len; i++)
        if (text[i] < '!' || text[i] > '~') return 0;
    pu_read_base58(&found, text, len);
    pu_read_bech32(&found, text, len);
    pu_read_cash(&found, text, len);
    pu_read_base32(&found, text, len);
    pu_read_ton(&found, text, len);
    pu_read_base58_forms(&found, text, len);
    pu_read_numbers(&found, text, len);
    pu_read_hex(&found, text, len);
    bool has_sure = false;
    for (int i = 0; i < found.count; i++) has_sure = has_sure || is_sure(found.list + i);
    if (!has_sure) pu_read_unchecked(&found, text, len);
    put_checked_first(&found);
    return found.failed ? -1 : found.count;
}
