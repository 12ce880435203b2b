/* Scanner of PGN games: the tags of each, without its moves.
 *
 * A game starts at a line `[Event `, or at the first tag after moves, and ends where the next one
 * starts; tags within comments are text. Nothing is allocated: whole games go to the caller's
 * arrays. */
#ifndef GOB_PGN_H
#define GOB_PGN_H

#include "gob_compiler.h"
#include "gob_status.h"

/* The texts kept of a game, in the order of their bytes. */
typedef enum gob_pgn_text {
    GOB_PGN_WHITE,
    GOB_PGN_BLACK,
    GOB_PGN_EVENT,
    GOB_PGN_RESULT,
    GOB_PGN_TERMINATION,
    GOB_PGN_TEXTS,
} gob_pgn_text;

typedef enum gob_pgn_speed {
    GOB_PGN_NO_SPEED, /* the event names none */
    GOB_PGN_ULTRABULLET,
    GOB_PGN_BULLET,
    GOB_PGN_BLITZ,
    GOB_PGN_RAPID,
    GOB_PGN_CLASSICAL,
    GOB_PGN_CORRESPONDENCE,
    GOB_PGN_SPEEDS,
} gob_pgn_speed;

typedef enum gob_pgn_kind {
    GOB_PGN_ANY,
    GOB_PGN_RATED,  /* the event does not start with "casual", in any case */
    GOB_PGN_CASUAL, /* it does */
    GOB_PGN_KINDS,
} gob_pgn_kind;

/* Where results go. Texts are unescaped; bytes of data beyond the block's length are not needed. */
typedef struct gob_pgn_output {
    size_t capacity;     /* games */
    int32_t *elo[2];     /* white and black; -1 where absent, or not 1 to 4 digits */
    int32_t *diff[2];    /* 0 where absent or malformed */
    int64_t *utc;        /* seconds since 1970; INT64_MIN where absent or malformed */
    char *texts;         /* GOB_PGN_TEXTS a game */
    int64_t *text_stops; /* GOB_PGN_TEXTS * capacity + 1 */
    /* Observations: one for each rating of a player with an account, white before black. */
    char *players;
    int64_t *player_stops;  /* 2 * capacity + 1 */
    int32_t *ratings;       /* 2 * capacity, before the game */
    int32_t *ratings_after; /* 2 * capacity */
    uint8_t *speeds;        /* 2 * capacity, of gob_pgn_speed */
} gob_pgn_output;

typedef struct gob_pgn_scan {
    gob_pgn_kind kind;
    const char *variant; /* letters and digits in lower case; NULL: any */
    size_t variant_length;
    bool final; /* nothing follows the block, so that its last game can be whole */
    gob_pgn_output out;
    /* Results of one call. */
    size_t consumed; /* bytes of the games read, and of blank lines and comments before a game */
    size_t lines;    /* in them */
    size_t games;    /* written */
    size_t observations;
    size_t other_kind;    /* games left out */
    size_t other_variant; /* games left out */
    size_t no_player;     /* observations left out: no name, `?`, Anonymous, lichess AI */
    size_t no_rating;     /* observations of players left out */
} gob_pgn_scan;

/* Read whole games until they or the capacity end. The last game of a final block is whole if its
 * moves end in a result and a newline. GOB_MALFORMED: what starts at `consumed` is neither a tag
 * nor a comment; can only be at the start of a file. O(length). */
gob_status gob_pgn_read(gob_pgn_scan *scan, const char *data, size_t length);

#endif
