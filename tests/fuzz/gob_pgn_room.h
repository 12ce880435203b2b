/* Room for what the scanner of PGN games gives, in allocations of exactly the size it may fill. */
#ifndef GOB_PGN_ROOM_H
#define GOB_PGN_ROOM_H

#include "gob_fuzz.h"
#include "gob_pgn.h"

/* For so many games of a text of a length. */
static inline gob_pgn_output new_output(size_t capacity, size_t length)
{
    gob_pgn_output out = {.capacity = capacity};
    for (size_t side = 0; side < 2; side++) {
        out.elo[side] = allocate(capacity * sizeof(int32_t));
        out.diff[side] = allocate(capacity * sizeof(int32_t));
    }
    out.utc = allocate(capacity * sizeof(int64_t));
    out.texts = allocate(length);
    out.text_stops = allocate((GOB_PGN_TEXTS * capacity + 1) * sizeof(int64_t));
    out.players = allocate(length);
    out.player_stops = allocate((2 * capacity + 1) * sizeof(int64_t));
    out.ratings = allocate(2 * capacity * sizeof(int32_t));
    out.ratings_after = allocate(2 * capacity * sizeof(int32_t));
    out.speeds = allocate(2 * capacity);
    return out;
}

static inline void free_output(gob_pgn_output *out)
{
    for (size_t side = 0; side < 2; side++) {
        free(out->elo[side]);
        free(out->diff[side]);
    }
    free(out->utc);
    free(out->texts);
    free(out->text_stops);
    free(out->players);
    free(out->player_stops);
    free(out->ratings);
    free(out->ratings_after);
    free(out->speeds);
}

#endif
