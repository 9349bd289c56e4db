/* SPDX-License-Identifier: MIT */
/* LD_PRELOAD: each look-up of a name takes SLOW_NAMES_S seconds and fails, as with a name server that does not answer.
 * Numbers are no names. */
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <arpa/inet.h>
#include <netinet/in.h>

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result)
{
    struct sockaddr_in *address;
    (void)hints;
    *result = calloc(1, sizeof **result + sizeof *address);
    if (!*result) return EAI_MEMORY;
    address = (struct sockaddr_in *)(*result + 1);
    if (!name || inet_pton(AF_INET, name, &address->sin_addr) != 1) {
        free(*result);
        sleep((unsigned)atoi(getenv("SLOW_NAMES_S")));
        return EAI_AGAIN;
    }
    address->sin_family = AF_INET;
    address->sin_port = htons((unsigned short)(service ? atoi(service) : 0));
    **result = (struct addrinfo){.ai_family = AF_INET, .ai_socktype = SOCK_STREAM, .ai_addrlen = sizeof *address};
    (*result)->ai_addr = (struct sockaddr *)address;
    return 0;
}

void freeaddrinfo(struct addrinfo *result)
{
    free(result);
}
