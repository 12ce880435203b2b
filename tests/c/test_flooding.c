/* Members crafted against one seed crowd a table of that seed, and no other. */
#include "gob_members.h"
#include "gob_random.h"
#include "gob_test.h"

enum { CRAFTED = 2000, ROOM = 12, SEEDS = 300 };

static const uint64_t KNOWN = 12345;

/* Groups beyond the home that a find looks at, over all members of a table. */
static uint64_t detours(const gob_table *t, uint64_t (*hash)(int64_t member, uint64_t seed))
{
    uint64_t sum = 0;
    for (size_t slot = 0; (slot = gob_table_next(t, slot)) != GOB_NO_SLOT; slot++) {
        size_t home = gob_table_home(t, hash(gob_table_member(t, slot), t->seed));
        size_t group = slot / GOB_GROUP;
        sum += group >= home ? group - home : group + gob_table_groups(t) - home;
    }
    return sum;
}

static uint64_t hash_integer(int64_t member, uint64_t seed)
{
    return gob_hash_int(member, seed);
}

/* Numbers whose hashes under the known seed are alike in the high bits, so that any table has few
 * homes for them. */
static void craft(int64_t *members, uint64_t (*hash)(int64_t member, uint64_t seed))
{
    size_t found = 0;
    for (int64_t candidate = 0; found < CRAFTED; candidate++) {
        if (hash(candidate, KNOWN) >> 56 == 0) {
            members[found++] = candidate;
        }
    }
}

static uint64_t detours_of_integers(const int64_t *members, uint64_t seed)
{
    gob_alloc a;
    gob_table t;
    gob_alloc_init(&a);
    gob_table_init(&t, 8, 8, seed);
    CHECK(gob_table_rehash(&t, &a, CRAFTED, false) == GOB_OK);
    for (size_t i = 0; i < CRAFTED; i++) {
        gob_table_insert(&t, members[i], 1.0);
    }
    uint64_t sum = detours(&t, hash_integer);
    gob_table_free(&t, &a);
    return sum;
}

/* The decimal digits of a number. */
static gob_name spell(int64_t number, uint8_t *room)
{
    int len = snprintf((char *)room, ROOM, "%d", (int)number);
    return (gob_name){room, (size_t)len};
}

static uint64_t hash_text(int64_t number, uint64_t seed)
{
    uint8_t room[ROOM];
    gob_name name = spell(number, room);
    return XXH3_64bits_withSeed(name.at, name.len, seed);
}

/* The store whose ids `hash_id` gets. */
static const gob_members *store;

static uint64_t hash_id(int64_t id, uint64_t seed)
{
    gob_name name = gob_members_name(store, id);
    return XXH3_64bits_withSeed(name.at, name.len, seed);
}

static uint64_t detours_of_names(const int64_t *numbers, uint64_t seed)
{
    gob_alloc a;
    gob_members m;
    int64_t id;
    uint8_t room[ROOM];
    gob_alloc_init(&a);
    gob_members_init(&m, 0, 8, seed);
    for (size_t i = 0; i < CRAFTED; i++) {
        CHECK(gob_members_add(&m, &a, spell(numbers[i], room), &id) == GOB_OK);
    }
    store = &m;
    uint64_t sum = detours(&m.table, hash_id);
    gob_members_free(&m, &a);
    return sum;
}

int main(void)
{
    static int64_t members[CRAFTED];
    uint64_t rng = 1;
    craft(members, hash_integer);
    CHECK(detours_of_integers(members, KNOWN) > CRAFTED * UINT64_C(30));
    for (unsigned i = 0; i < SEEDS; i++) {
        CHECK(detours_of_integers(members, random_next(&rng)) < CRAFTED);
    }
    craft(members, hash_text);
    CHECK(detours_of_names(members, KNOWN) > CRAFTED * UINT64_C(30));
    for (unsigned i = 0; i < SEEDS; i++) {
        CHECK(detours_of_names(members, random_next(&rng)) < CRAFTED);
    }
    return test_report();
}
