#include "gob_order_snapshot.h"

typedef struct block_head {
    uint64_t key;
    uint64_t member;
    uint16_t count;
    uint16_t bytes; /* with a zero at the end where they are odd */
    uint32_t unused;
} block_head;

_Static_assert(sizeof(block_head) == 24 && offsetof(gob_block, data) == 6,
               "heads are the same everywhere");

/* A block in a file begins where one in memory may, too. */
static size_t filled_up(size_t bytes)
{
    return (bytes + 1) / 2 * 2;
}

/* Writing */

static gob_status write_block(const gob_order *o, const gob_block *b, gob_writer *w)
{
    static const uint8_t zero;
    size_t bytes = gob_block_bytes(b, o->layout);
    GOB_TRY(gob_write(w, b, bytes));
    return gob_write(w, &zero, filled_up(bytes) - bytes);
}

gob_status gob_order_save(const gob_order *o, gob_writer *w)
{
    gob_child c;
    GOB_TRY(gob_writer_section(w, GOB_SECTION_BLOCK_HEADS));
    for (uint64_t rank = 0; rank < o->count; rank += c.count) {
        c = gob_order_block(o, rank);
        if (c.node == NULL) {
            return GOB_MALFORMED;
        }
        block_head head = {
            .key = c.first.key,
            .member = c.first.member,
            .count = (uint16_t)c.count,
            .bytes = (uint16_t)filled_up(gob_block_bytes(c.node, o->layout)),
        };
        GOB_TRY(gob_write(w, &head, sizeof head));
    }
    GOB_TRY(gob_writer_section(w, GOB_SECTION_BLOCKS));
    for (uint64_t rank = 0; rank < o->count; rank += c.count) {
        c = gob_order_block(o, rank);
        GOB_TRY(write_block(o, c.node, w));
    }
    return GOB_OK;
}

/* Reading */

/* A block of its own from one in a file; *made is NULL when memory runs out. */
static gob_status copy_block(const gob_order *o, gob_alloc *a, const block_head *head,
                             const uint8_t *at, gob_block **made, const char **why)
{
    gob_block b;
    memcpy(&b, at, offsetof(gob_block, data));
    GOB_EXPECT(b.count == head->count && gob_block_is_sound(&b, o->layout) &&
                   filled_up(gob_block_bytes(&b, o->layout)) == head->bytes,
               "a block that is not what its head says");
    size_t bytes = gob_block_bytes(&b, o->layout);
    *made = gob_malloc(a, bytes);
    if (*made == NULL) {
        return GOB_NOMEM;
    }
    memcpy(*made, at, bytes);
    return GOB_OK;
}

static gob_status add_block(gob_builder *b, const block_head *head, const uint8_t *at,
                            const char **why)
{
    gob_order *o = b->order;
    gob_child c = {{head->key, head->member}, head->count, (void *)(uintptr_t)at};
    if (o->end != NULL) {
        return gob_builder_add_block(b, c);
    }
    gob_block *block;
    GOB_TRY(copy_block(o, b->alloc, head, at, &block, why));
    c.node = block;
    gob_status status = gob_builder_add_block(b, c);
    if (status != GOB_OK) {
        gob_block_free(b->alloc, o->layout, block);
    }
    return status;
}

static gob_status add_all(gob_builder *b, const gob_reader *r, const char **why)
{
    gob_span heads = gob_reader_section(r, GOB_SECTION_BLOCK_HEADS);
    gob_span blocks = gob_reader_section(r, GOB_SECTION_BLOCKS);
    GOB_EXPECT(heads.size % sizeof(block_head) == 0, "heads of blocks");
    for (size_t at = 0; at < heads.size; at += sizeof(block_head)) {
        block_head head;
        memcpy(&head, heads.at + at, sizeof head);
        GOB_EXPECT(head.count >= 1 && head.count <= GOB_BLOCK_MAX && head.unused == 0,
                   "head of a block");
        GOB_EXPECT(head.bytes >= offsetof(gob_block, data) && head.bytes % 2 == 0,
                   "bytes of a block");
        GOB_EXPECT(head.bytes <= blocks.size, "a block beyond its section");
        GOB_TRY(add_block(b, &head, blocks.at, why));
        blocks.at += head.bytes;
        blocks.size -= head.bytes;
        GOB_TRY(gob_spend(b->alloc->pace, head.count));
    }
    GOB_EXPECT(blocks.size == 0, "bytes behind the last block");
    return GOB_OK;
}

gob_status gob_order_load(gob_order *o, gob_alloc *a, const gob_reader *r, bool mapped,
                          const char **why)
{
    gob_builder b;
    gob_span blocks = gob_reader_section(r, GOB_SECTION_BLOCKS);
    o->end = mapped ? blocks.at + blocks.size : NULL;
    gob_builder_init(&b, o, a);
    gob_status status = add_all(&b, r, why);
    if (status != GOB_OK) {
        gob_builder_abandon(&b);
        return status;
    }
    return gob_builder_finish(&b);
}
