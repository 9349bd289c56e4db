/* SPDX-License-Identifier: MIT */
/* The checksums that addresses carry, so that a mistyped one is found before funds go to it. */
#ifndef PURSER_CORE_ADDRESS_H
#define PURSER_CORE_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#pragma GCC visibility push(hidden)

enum pu_address_check { PU_ADDRESS_GOOD, PU_ADDRESS_BAD, PU_ADDRESS_UNCHECKED };

/* Base58 whose last four bytes are those of the double SHA-256 of what is before them (Bitcoin, Tron, Dogecoin). With
 * `ripple` the digits are those of the XRP Ledger. UNCHECKED when OpenSSL cannot make the digest. */
enum pu_address_check pu_address_base58check(const char *text, size_t len, bool ripple);

/* Bech32 and Bech32m (BIP 173, BIP 350) of any length up to 256. */
enum pu_address_check pu_address_bech32(const char *text, size_t len);

/* Replaces the end of a text by the checksum that it should carry, for a simulator that draws addresses. Returns false
 * for what is none, and where OpenSSL cannot make the digest. */
bool pu_address_seal_base58check(char *text, size_t len, bool ripple);
bool pu_address_seal_bech32(char *text, size_t len);

/* EIP-55: the case of the letters of 0x and 40 hexadecimal digits. UNCHECKED where all letters have one case. */
enum pu_address_check pu_address_eip55(const char *text, size_t len);

#pragma GCC visibility pop
#endif
