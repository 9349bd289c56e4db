/* SPDX-License-Identifier: MIT */
/* As much of HTTP/2 as it takes to count requests and to end them badly. Header blocks are not decoded: a HEADERS
 * frame of the client is a request. */
#include "peer.h"

#include <string.h>

enum { DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH, PING, GOAWAY };
enum { END_STREAM = 1, ACK = 1, END_HEADERS = 4 };

typedef struct frame {
    size_t len;
    int type, flags;
    uint32_t stream;
    char payload[REQUEST_MAX];
} frame;

static bool read_exactly(link_t *link, char *at, size_t len)
{
    while (len > 0) {
        long n = receive(link, at, len);
        if (n <= 0) return false;
        at += n, len -= (size_t)n;
    }
    return true;
}

static uint32_t number(const char *at, int bytes)
{
    uint32_t value = 0;
    for (int i = 0; i < bytes; i++) value = value << 8 | (unsigned char)at[i];
    return value;
}

static bool write_frame(link_t *link, int type, int flags, uint32_t stream, const char *payload, size_t len)
{
    char bytes[9 + 64] = {(char)(len >> 16),    (char)(len >> 8),     (char)len,           (char)type,  (char)flags,
                          (char)(stream >> 24), (char)(stream >> 16), (char)(stream >> 8), (char)stream};
    memcpy(bytes + 9, payload, len);
    return transmit(link, bytes, 9 + len);
}

/* Reads one frame and answers what the protocol wants answered. */
static bool read_frame(link_t *link, frame *in)
{
    char head[9];
    if (!read_exactly(link, head, sizeof head)) return false;
    in->len = number(head, 3);
    in->type = head[3];
    in->flags = head[4];
    in->stream = number(head + 5, 4);
    if (in->len > sizeof in->payload || !read_exactly(link, in->payload, in->len)) return false;
    if (in->type == SETTINGS && !(in->flags & ACK)) return write_frame(link, SETTINGS, ACK, 0, "", 0);
    if (in->type == PING && !(in->flags & ACK)) return write_frame(link, PING, ACK, 0, in->payload, 8);
    return true;
}

bool h2_greet(link_t *link)
{
    char preface[24];
    link->h2 = true;
    return read_exactly(link, preface, sizeof preface) && write_frame(link, SETTINGS, 0, 0, "", 0);
}

bool h2_headers(link_t *link)
{
    frame in;
    do {
        if (!read_frame(link, &in)) return false;
    } while (in.type != HEADERS);
    count_request(link);
    link->stream = in.stream;
    link->ended = in.flags & END_STREAM;
    return true;
}

bool h2_data(link_t *link)
{
    frame in;
    while (!link->ended) {
        if (!read_frame(link, &in)) return false;
        link->ended = in.type == DATA && in.stream == link->stream && (in.flags & END_STREAM);
    }
    return true;
}

bool h2_reply(link_t *link)
{
    /* 0x88 is the static table's `:status: 200`. */
    return write_frame(link, HEADERS, END_HEADERS, link->stream, "\x88", 1) &&
           write_frame(link, DATA, END_STREAM, link->stream, "{}", 2);
}

bool h2_rst(link_t *link, int code)
{
    char payload[4] = {0, 0, 0, (char)code};
    return write_frame(link, RST_STREAM, 0, link->stream, payload, sizeof payload);
}

/* The last stream it names is 0: none was looked at, a client may repeat all. */
bool h2_goaway(link_t *link)
{
    char payload[8] = {0};
    return write_frame(link, GOAWAY, 0, 0, payload, sizeof payload);
}
