/* Every tunable and hard limit of the core, each with its trade-off and the measurement behind it.
 */
#ifndef GOB_CONFIG_H
#define GOB_CONFIG_H

enum {
    /* Ids a page covers, as a power of two. Smaller pages fit clusters better; larger ones keep the
     * directory and the pages' heads in the cache. Counting 1.45 G events of 80.8 M ids took 13.3,
     * 11.6 and 11.3 ns an event with 12, 13 and 14 bits; 8 M ids 7.0, 6.9 and 6.6. */
    GOB_PAGE_BITS = 14,
    GOB_PAGE_IDS = 1 << GOB_PAGE_BITS,

    /* Members that one step of a walk over an index gives. */
    GOB_WALK_MAX = 2048,

    /* Control bytes that one probe compares: the width of an SSE2 or NEON register. */
    GOB_GROUP = 16,

    /* A table is grown when this many 64ths of its slots are taken, and then to this many 64ths.
     * Higher loads save memory and lengthen probes. */
    GOB_TABLE_FULL = 58,
    GOB_TABLE_GROWN = 48,

    /* Sets of up to this many members have no order: ordered reads sort on the way, in about a
     * microsecond. Up to as many names are found without a table. */
    GOB_SMALL_MAX = 64,

    /* A free name record is kept for another of its length up to this length, once the names take
     * this many bytes; others wait for the next compaction. */
    GOB_FREE_LENGTHS = 64,
    GOB_FREE_FROM = 4096,

    /* Offsets of names that refs of 4 bytes reach. */
    GOB_NARROW_BITS = 32,

    /* Entries of a blob lie in buckets by hash, this many on average when it is built, and at most
     * or at least so many before it is built again. Each bucket costs four bytes. A look-up that
     * finds its bucket in one vector took 18.5 ns among 512 fields; with 32 and 48, where some take
     * two, 24 ns, and with 12 and 18 no less. */
    GOB_BUCKET = 16,
    GOB_BUCKET_FULL = 24,
    GOB_BUCKET_SPARSE = 4,

    /* Bytes of a blob, as far as its offsets of 16 bits reach, and of an entry in it. */
    GOB_BLOB_MAX = 65536,
    GOB_BLOB_RECORD_MAX = 32767,

    /* Bytes of a hash's records from which on a batch of look-ups starts its loads ahead. Up to
     * there they are in the caches, and starting them costs as much as a look-up. */
    GOB_FAR = 1 << 18,

    /* Rows from which on, where they are half of a hash, a bulk write goes into a copy, so that it
     * can stop: a copy takes a tenth of the time that they take. Fewer are soon done. */
    GOB_ASIDE = 1 << 12,

    /* Loads of a page's exceptions, as those of a table. */
    GOB_PATCH_FULL = 56,
    GOB_PATCH_GROWN = 44,

    /* Entries in a packed block. More: fewer bases, counts and child pointers, dearer select and
     * rescore. */
    GOB_BLOCK_MAX = 256,

    /* Children of an inner node: about a 2 KiB node, searched by bisection. */
    GOB_NODE_MAX = 64,

    /* Levels of the order that a path can hold: 64**10 blocks are beyond any memory. */
    GOB_LEVELS_MAX = 12,

    /* Lookups in flight together in a bulk call, between their prefetch and their use: 32 and 64
     * are alike, 16 is slower. */
    GOB_BATCH = 64,

    /* Members that long work handles between two looks at its host: microseconds to a few
     * milliseconds, and the look costs nothing beside them. */
    GOB_PACE = 1 << 14,

    /* Once more than 1/this of the members wait in pending, rebuilding the order is cheaper. */
    GOB_PENDING_SHARE = 8,

    /* Scans that answer ordered reads before the order is built after all. */
    GOB_SCANS_MAX = 4,
};

#endif
