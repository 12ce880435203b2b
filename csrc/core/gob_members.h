/* The member store: names (byte strings, or UUIDs of 16 bytes), each once and beside its score.
 *
 * An arena holds records of [score][length][bytes], and a hash table their ids, which stand for the
 * names everywhere else. Scores are kept in the narrowest form that holds all of them exactly. A
 * name may be without a score: it was removed, but its id is still in use elsewhere, or it is new.
 * Ids keep their meaning until `epoch` changes. */
#ifndef GOB_MEMBERS_H
#define GOB_MEMBERS_H

#include "gob_alloc.h"
#include "gob_arena.h"
#include "gob_config.h"
#include "gob_names.h"
#include "gob_score.h"
#include "gob_snapshot.h"
#include "gob_status.h"
#include "gob_table.h"

typedef enum gob_form { GOB_FORM_I16, GOB_FORM_I32, GOB_FORM_U32, GOB_FORM_FLOAT } gob_form;

/* Ids that lost their score and are freed once nobody else has them. */
typedef struct gob_condemned {
    size_t count;
    size_t room;
    int64_t ids[];
} gob_condemned;

typedef struct gob_members {
    gob_table table; /* ids; without slots while there are up to GOB_SMALL_MAX records */
    gob_arena arena;
    uint64_t records;         /* names, with a score or without */
    gob_condemned *condemned; /* or NULL */
    uint32_t epoch;           /* changes whenever ids do */
    uint8_t fixed;            /* bytes of every name, or 0 where they vary */
    uint8_t score_bytes;      /* of the float form */
    uint8_t form;
    uint8_t narrow_bits; /* ids of 4 bytes reach 2**this units; less in tests */
} gob_members;

#define GOB_NO_ID INT64_MAX

void gob_members_init(gob_members *m, unsigned fixed, unsigned score_bytes, uint64_t seed);
void gob_members_free(gob_members *m, gob_alloc *a);

/* The id of a name, or GOB_NO_ID. */
int64_t gob_members_find(const gob_members *m, gob_name name);

/* The same for rows [from, from + n) of a column, n <= GOB_BATCH, with overlapping loads. */
void gob_members_find_many(const gob_members *m, const gob_names *names, size_t from, size_t n,
                           int64_t *ids);

/* Whether ids of the present width reach one more name of this length. */
bool gob_members_reach(const gob_members *m, size_t len);

/* Takes a new name, which has no score yet and which ids reach. GOB_NOMEM; GOB_TOO_LARGE for 2 GiB.
 */
gob_status gob_members_add(gob_members *m, gob_alloc *a, gob_name name, int64_t *id);

/* Forgets a name at once; nothing where that has been done already, as an id may be condemned
 * twice.
 */
void gob_members_drop(gob_members *m, gob_alloc *a, int64_t id);

/* Room to condemn one more id; and a name without a score that has to stay for now. */
gob_status gob_members_reserve_condemned(gob_members *m, gob_alloc *a);
void gob_members_condemn(gob_members *m, int64_t id);

/* Drops the condemned that have got no score since. GOB_STOPPED: some are left for the next time.
 */
gob_status gob_members_settle(gob_members *m, gob_alloc *a);

gob_name gob_members_name(const gob_members *m, int64_t id);

/* Starts the load of a name. */
void gob_members_prefetch(const gob_members *m, int64_t id);

/* The score of a name, or GOB_ABSENT. */
double gob_members_score(const gob_members *m, int64_t id);

/* Whether the present form holds a score; and sets one that it does (or GOB_ABSENT). */
bool gob_members_fits(const gob_members *m, double score);
void gob_members_set_score(gob_members *m, int64_t id, double score);

/* Whether a form holds all scores that another does. */
bool gob_form_holds(gob_form form, gob_form other);

/* The narrowest form for all scores, and for `score` too unless that is GOB_ABSENT. O(n). */
gob_form gob_members_form_for(const gob_members *m, double score);

/* New memory for a store, without the free records: begin, then carry each name over, in any order,
 * then end. The ids are new ones, in ascending order. A tight table has no room for more. */
gob_status gob_members_renew_begin(const gob_members *m, gob_alloc *a, gob_form form, bool wide,
                                   bool tight, gob_members *fresh);
int64_t gob_members_carry(gob_members *fresh, const gob_members *m, int64_t id);
void gob_members_renew_end(gob_members *m, gob_alloc *a, gob_members *fresh);

/* All of that in the order of the arena; *follow, an id or GOB_NO_ID, becomes its new id. */
gob_status gob_members_renew(gob_members *m, gob_alloc *a, gob_form form, bool wide, bool tight,
                             int64_t *follow);

/* Whether ids have to be wide for the names alone, in this form. */
bool gob_members_need_wide(const gob_members *m, gob_form form);

/* Whether renewing would give much memory back. */
bool gob_members_wasteful(const gob_members *m);

/* An initialised, empty dst of the same kind takes all names that have a score, into a table of its
 * own seed. */
gob_status gob_members_copy(gob_members *dst, gob_alloc *a, const gob_members *src);

/* The names that have a score, in the order of the arena: fills up to n ids and scores from *at
 * on (0 at first); returns how many. */
size_t gob_members_walk(const gob_members *m, size_t *at, size_t n, int64_t *ids, double *scores);

/* In a snapshot: the table, for names that are many, and the arena as it lies. */
gob_status gob_members_save(const gob_members *m, gob_alloc *a, gob_writer *w);

/* An initialised, empty store of the form and the width of ids that a file has gets its arena, and
 * then, once there are gob_members_starts_bytes of zeros for the starts of records, its names. Only
 * that they differ is left to gob_members_validate. On failure it can only be freed. */
gob_status gob_members_load_arena(gob_members *m, gob_alloc *a, gob_span file);
gob_status gob_members_load(gob_members *m, gob_alloc *a, const gob_reader *r, uint64_t *starts,
                            size_t records, const char **why);
size_t gob_members_starts_bytes(const gob_members *m);
bool gob_members_is_id(const gob_members *m, const uint64_t *starts, int64_t id);

/* Or it reads the file itself, which is mapped, and looks at no name. It must not be freed. */
gob_status gob_members_map(gob_members *m, const gob_reader *r, size_t records, const char **why);

/* All but the table. */
size_t gob_members_bytes(const gob_members *m);

bool gob_members_validate(const gob_members *m, gob_pace *pace, const char **why);

GOB_INLINE bool gob_members_wide(const gob_members *m)
{
    return m->table.member_bytes == 8;
}

/* Seven bytes of a name from `depth` on and, in the lowest byte, how many are left there (8: more
 * than 7). Names that agree before `depth` are in the order of these; where they are equal and end
 * in 8, what comes after decides. */
GOB_INLINE uint64_t gob_name_digits(gob_name name, size_t depth)
{
    size_t left = name.len > depth ? name.len - depth : 0;
    uint64_t digits = 0;
    for (size_t i = 0; i < 7; i++) {
        digits = digits << 8 | (i < left ? name.at[depth + i] : 0);
    }
    return digits << 8 | (left > 7 ? 8 : left);
}

#endif
