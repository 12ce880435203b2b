/* Scanner of ZADD and ZINCRBY commands, as inline text or RESP arrays, as a Redis server reads
 * them.
 *
 * One call reads one run: following commands of one verb and key. Nothing is allocated: decoded
 * bytes and scores go to the caller's arrays. */
#ifndef GOB_COMMANDS_H
#define GOB_COMMANDS_H

#include "gob_compiler.h"
#include "gob_status.h"

typedef enum gob_commands_verb {
    GOB_COMMANDS_ZADD,
    GOB_COMMANDS_ZINCRBY,
} gob_commands_verb;

typedef enum gob_commands_fault {
    GOB_COMMANDS_SOUND,
    GOB_COMMANDS_UNKNOWN,  /* another command */
    GOB_COMMANDS_ARITY,    /* wrong number of arguments */
    GOB_COMMANDS_OPTION,   /* NX, XX, GT, LT, CH or INCR */
    GOB_COMMANDS_SCORE,    /* not a valid float */
    GOB_COMMANDS_QUOTES,   /* unbalanced quotes */
    GOB_COMMANDS_PROTOCOL, /* not RESP */
    GOB_COMMANDS_FAULTS,
} gob_commands_fault;

/* The shortest pair is " 1 a", so a block of n bytes holds at most this many. */
#define GOB_COMMANDS_MAX_PAIRS(n) ((n) / 4)

typedef struct gob_commands_run {
    char *text;     /* as many bytes as the block: the key, then the members */
    int64_t *stops; /* GOB_COMMANDS_MAX_PAIRS + 1: where the key and each member end in text */
    double *scores; /* GOB_COMMANDS_MAX_PAIRS */
    /* Results of one call. */
    gob_commands_verb verb;
    size_t count;    /* pairs of the run; 0: no whole command in the block */
    size_t consumed; /* bytes of whole commands and blank lines */
    size_t lines;    /* commands and blank lines in them */
    gob_commands_fault fault;
} gob_commands_run;

/* GOB_MALFORMED: what starts at `consumed` is no command, by `fault`; the run before it is whole.
 * O(length). */
gob_status gob_commands_read(gob_commands_run *run, const char *data, size_t length);

/* All members of a run as canonical int64, or false. O(bytes). */
bool gob_commands_integers(const char *text, const int64_t *stops, size_t count, int64_t *out);

#endif
