#include "gob_pages_snapshot.h"

#include <stdlib.h>

typedef struct page_head {
    int64_t number;
    uint16_t width;
    uint16_t capacity; /* of the patch */
    uint32_t unused;
} page_head;

_Static_assert(sizeof(page_head) == 16 && sizeof(gob_patch) == 16 &&
                   offsetof(gob_page, live) == 16 && offsetof(gob_page, width) == 18 &&
                   offsetof(gob_page, codes) == 20,
               "heads are the same everywhere");

/* A page in a file begins where one in memory may, too. */
static size_t filled_up(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* Where the groups of a patch are, seen from it, which is what a page begins with. */
static int64_t groups_at(unsigned width, unsigned capacity)
{
    return capacity == 0 ? 0 : (int64_t)(offsetof(gob_page, codes) + (size_t)GOB_PAGE_IDS * width);
}

/* Writing */

static int by_number(const void *a, const void *b)
{
    int64_t left = gob_ref_number(a);
    int64_t right = gob_ref_number(b);
    return (left > right) - (left < right);
}

static gob_status write_page(const gob_pages *p, const gob_page *page, uint8_t *groups,
                             gob_writer *w)
{
    static const uint8_t zeros[8];
    gob_page head;
    memset(&head, 0, sizeof head);
    head.patch.groups = groups_at(page->width, page->patch.capacity);
    head.patch.count = page->patch.count;
    head.patch.capacity = page->patch.capacity;
    head.live = page->live;
    head.width = page->width;
    gob_patch_lay(&page->patch, p->kind, groups);
    GOB_TRY(gob_write(w, &head, offsetof(gob_page, codes)));
    GOB_TRY(gob_write(w, page->codes, (size_t)GOB_PAGE_IDS * page->width));
    GOB_TRY(gob_write(w, groups, gob_patch_bytes(p->kind, page->patch.capacity)));
    size_t bytes = gob_page_bytes(p, page);
    return gob_write(w, zeros, filled_up(bytes) - bytes);
}

/* `groups` has room for any patch. */
static gob_status write_all(const gob_pages *p, const gob_page_ref *refs, uint8_t *groups,
                            gob_writer *w)
{
    GOB_TRY(gob_writer_section(w, GOB_SECTION_PAGE_HEADS));
    for (size_t i = 0; i < p->count; i++) {
        page_head head = {
            .number = gob_ref_number(&refs[i]),
            .width = refs[i].page->width,
            .capacity = refs[i].page->patch.capacity,
        };
        GOB_TRY(gob_write(w, &head, sizeof head));
    }
    GOB_TRY(gob_writer_section(w, GOB_SECTION_PAGES));
    for (size_t i = 0; i < p->count; i++) {
        GOB_TRY(write_page(p, refs[i].page, groups, w));
    }
    return GOB_OK;
}

gob_status gob_pages_save(const gob_pages *p, gob_alloc *a, gob_writer *w)
{
    if (p->count == 0) {
        return GOB_OK;
    }
    size_t refs_bytes = p->count * sizeof(gob_page_ref);
    size_t bytes = refs_bytes + gob_patch_bytes(p->kind, UINT16_MAX);
    gob_page_ref *refs = gob_malloc(a, bytes);
    if (refs == NULL) {
        return GOB_NOMEM;
    }
    size_t n = 0;
    for (size_t at = 0; at < (size_t)1 << p->bits; at++) {
        if (p->dir[at].page != NULL) {
            refs[n++] = p->dir[at];
        }
    }
    qsort(refs, n, sizeof *refs, by_number);
    gob_status status = write_all(p, refs, (uint8_t *)refs + refs_bytes, w);
    gob_free(a, refs, bytes);
    return status;
}

/* Reading */

static gob_status check_head(const gob_pages *p, const page_head *head, unsigned member_bytes,
                             const char **why)
{
    int64_t reach = INT64_C(1) << (member_bytes * 8 - 1 - GOB_PAGE_BITS);
    GOB_EXPECT(head->number >= -reach && head->number < reach, "number of a page");
    GOB_EXPECT(head->width == 1 || head->width == 2 || head->width == p->kind.score_bytes,
               "width of a page");
    GOB_EXPECT(head->capacity % GOB_PATCH_GROUP == 0 &&
                   (head->capacity == 0 || head->width != p->kind.score_bytes) && head->unused == 0,
               "head of a page");
    return GOB_OK;
}

/* Where the codes and the patch of a page are, and how much there is of both. */
static gob_status check_page(const page_head *head, const gob_page *laid, const char **why)
{
    const uint8_t *young = (const uint8_t *)laid + offsetof(gob_page, young); /* any byte, as yet */
    GOB_EXPECT(laid->width == head->width && laid->patch.capacity == head->capacity &&
                   laid->patch.count <= head->capacity &&
                   laid->patch.groups == groups_at(head->width, head->capacity) &&
                   laid->live <= GOB_PAGE_IDS && laid->patch.unused == 0 && *young == 0,
               "a page that is not what its head says");
    return GOB_OK;
}

static gob_status copy_page(gob_pages *p, gob_alloc *a, const page_head *head, const gob_page *laid)
{
    gob_page *page = gob_page_copy(p, a, laid);
    if (page == NULL) {
        return GOB_NOMEM;
    }
    if (gob_pages_insert(p, a, head->number, head->width, page) == NULL) {
        gob_page_free(p, a, page);
        return GOB_NOMEM;
    }
    return GOB_OK;
}

gob_status gob_pages_load(gob_pages *p, gob_alloc *a, const gob_reader *r, unsigned member_bytes,
                          bool mapped, const char **why)
{
    gob_span heads = gob_reader_section(r, GOB_SECTION_PAGE_HEADS);
    gob_span pages = gob_reader_section(r, GOB_SECTION_PAGES);
    page_head last = {0};
    p->borrowed = mapped;
    GOB_EXPECT(heads.size % sizeof(page_head) == 0, "heads of pages");
    for (size_t at = 0; at < heads.size; at += sizeof(page_head)) {
        page_head head;
        memcpy(&head, heads.at + at, sizeof head);
        GOB_TRY(check_head(p, &head, member_bytes, why));
        GOB_EXPECT(at == 0 || head.number > last.number, "order of pages");
        last = head;
        size_t bytes = filled_up(gob_page_bytes_for(p, head.width, head.capacity));
        GOB_EXPECT(bytes <= pages.size, "a page beyond its section");
        gob_page *laid = (gob_page *)(uintptr_t)pages.at;
        GOB_TRY(check_page(&head, laid, why));
        if (!mapped) {
            GOB_TRY(gob_spend(a->pace, GOB_PAGE_IDS));
            GOB_TRY(copy_page(p, a, &head, laid));
        } else if (gob_pages_insert(p, a, head.number, head.width, laid) == NULL) {
            return GOB_NOMEM;
        }
        pages.at += bytes;
        pages.size -= bytes;
    }
    GOB_EXPECT(pages.size == 0, "bytes behind the last page");
    return GOB_OK;
}
