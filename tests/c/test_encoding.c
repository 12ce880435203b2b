/* Encodings: every text comes back as it was, and only canonical spellings are stored in binary. */
#include <stdlib.h>

#include "gob_record.h"

#include "gob_entry_pool.h"
#include "gob_random.h"
#include "gob_test.h"

static gob_name text_of(const char *text)
{
    return (gob_name){(const uint8_t *)text, strlen(text)};
}

/* The kind and the bytes that a text is stored as. */
static void check_text(gob_name text, gob_value_kind kind, size_t bytes)
{
    gob_coded coded;
    gob_scratch scratch;
    gob_encode_text(&coded, text, true);
    CHECK(coded.kind == kind && coded.bytes.len == bytes);
    gob_value value = gob_decode(coded.kind, coded.bytes);
    CHECK(value.kind == kind && same_bytes(gob_value_bytes(&value, &scratch), text));
    gob_encode_text(&coded, text, false);
    CHECK(coded.kind == GOB_VALUE_TEXT && coded.bytes.at == text.at && coded.bytes.len == text.len);
}

static void test_integers(void)
{
    static const struct {
        const char *text;
        size_t bytes;
    } integers[] = {
        {"0", 1},
        {"-1", 1},
        {"127", 1},
        {"-128", 1},
        {"128", 2},
        {"-129", 2},
        {"32767", 2},
        {"32768", 3},
        {"-32769", 3},
        {"8388607", 3},
        {"8388608", 4},
        {"2147483647", 4},
        {"2147483648", 5},
        {"549755813888", 6},
        {"140737488355328", 7},
        {"36028797018963968", 8},
        {"-36028797018963968", 7},
        {"9223372036854775807", 8},
        {"-9223372036854775808", 8},
    };
    for (size_t i = 0; i < sizeof integers / sizeof integers[0]; i++) {
        check_text(text_of(integers[i].text), GOB_VALUE_INT, integers[i].bytes);
    }
}

static void test_near_misses(void)
{
    static const char *const texts[] = {
        "",
        "-",
        "+1",
        "-0",
        "00",
        "01",
        "-01",
        " 1",
        "1 ",
        "1.0",
        "1e5",
        "0x1",
        "9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999",
        "\xd9\xa1",
        "00112233-4455-6677-8899-AABBCCDDEEFF",
        "00112233-4455-6677-8899-aabbccddeefg",
        "00112233-4455-6677-8899-aabbccddeef",
        "00112233-4455-6677-8899-aabbccddeeff0",
        "0011223304455-6677-8899-aabbccddeeff",
        "0011223-34455-6677-8899-aabbccddeeff",
        "00112233445566778899aabbccddeeff",
        "{0112233-4455-6677-8899-aabbccddeef}",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        check_text(text_of(texts[i]), GOB_VALUE_TEXT, strlen(texts[i]));
    }
    check_text((gob_name){(const uint8_t *)"1\0", 2}, GOB_VALUE_TEXT, 2);
    check_text((gob_name){NULL, 0}, GOB_VALUE_TEXT, 0);
}

static void test_uuids(void)
{
    uint64_t rng = 1;
    for (int round = 0; round < 100; round++) {
        uint8_t bytes[16];
        gob_store64(bytes, random_next(&rng));
        gob_store64(bytes + 8, random_next(&rng));
        gob_value uuid = gob_decode(GOB_VALUE_UUID, (gob_name){bytes, sizeof bytes});
        gob_scratch scratch;
        gob_coded coded;
        gob_name text = gob_value_bytes(&uuid, &scratch);
        CHECK(text.len == 36 && text.at[8] == '-' && text.at[23] == '-');
        check_text(text, GOB_VALUE_UUID, 16);
        gob_encode_text(&coded, text, true);
        CHECK(memcmp(coded.bytes.at, bytes, sizeof bytes) == 0);
    }
}

/* Every text that an integer prints as, and what is one byte off it. */
static void test_random_integers(void)
{
    uint64_t rng = 2;
    for (int round = 0; round < 5000; round++) {
        char text[32];
        char other[32];
        int64_t number = (int64_t)random_next(&rng) >> random_below(&rng, 64);
        int len = snprintf(text, sizeof text, "%lld", (long long)number);
        gob_value value = gob_value_int(number);
        gob_coded coded;
        gob_scratch scratch;
        gob_encode(&coded, &value, false);
        check_text(text_of(text), GOB_VALUE_INT, coded.bytes.len);
        CHECK(gob_decode(GOB_VALUE_INT, coded.bytes).integer == number);
        text[random_below(&rng, (uint64_t)len)] = "0-+ .19a"[random_below(&rng, 8)];
        gob_encode_text(&coded, text_of(text), true);
        value = gob_decode(coded.kind, coded.bytes);
        CHECK(same_bytes(gob_value_bytes(&value, &scratch), text_of(text)));
        snprintf(other, sizeof other, "%lld", strtoll(text, NULL, 10));
        CHECK((coded.kind == GOB_VALUE_INT) == (strcmp(text, other) == 0));
    }
}

static void test_floats(void)
{
    static const double reals[] = {0.0, -0.0, 1.5, 1e300, -5e-324};
    for (size_t i = 0; i < sizeof reals / sizeof reals[0]; i++) {
        gob_coded coded;
        gob_value value = gob_value_float(reals[i]);
        gob_encode(&coded, &value, true);
        CHECK(coded.kind == GOB_VALUE_FLOAT && coded.bytes.len == 8);
        value = gob_decode(coded.kind, coded.bytes);
        CHECK(value.kind == GOB_VALUE_FLOAT && memcmp(&value.real, &reals[i], 8) == 0);
    }
}

/* Records of all fields with all values: read as they were written, and no other field's. */
static void test_records(void)
{
    static uint8_t record[1 << 17];
    gob_field f;
    gob_field other;
    gob_coded value;
    const char *why;
    for (size_t i = 0; i < ODD + EDGES + 2; i++) {
        gob_field_of(&f, field_pool[i], i % 3 != 0, 9);
        for (size_t k = 0; k < VALUES; k++) {
            gob_encode(&value, &value_pool[k], k % 2 == 0);
            size_t bytes = gob_record_bytes(&f, &value);
            gob_record_write(record, &f, &value);
            gob_record r = gob_record_read(record, bytes);
            CHECK(r.field_kind == f.coded.kind && same_bytes(r.field, f.coded.bytes));
            CHECK(r.value_kind == value.kind && same_bytes(r.value, value.bytes));
            CHECK(gob_record_validate(record, bytes, &why));
        }
        size_t bytes = gob_record_bytes(&f, &value);
        gob_record_field(&other, record, bytes, 9);
        CHECK(other.code == f.code && other.hash == f.hash);
        for (size_t k = 0; k < ODD + EDGES + 2; k++) {
            gob_field_of(&other, field_pool[k], k % 3 != 0, 9);
            CHECK(gob_record_is(record, &other) == (k == i));
        }
    }
}

/* A text of the bytes that an integer is stored as is another field. */
static void test_kinds_differ(void)
{
    uint8_t record[8];
    gob_field seven;
    gob_field byte;
    gob_coded value = {.kind = GOB_VALUE_TEXT};
    gob_field_of(&seven, text_of("7"), true, 9);
    gob_field_of(&byte, text_of("\7"), true, 9);
    CHECK(same_bytes(seven.coded.bytes, byte.coded.bytes) && seven.hash != byte.hash);
    gob_record_write(record, &seven, &value);
    CHECK(gob_record_is(record, &seven) && !gob_record_is(record, &byte));
}

static void test_faults(void)
{
    const char *why;
    const uint8_t free_record[] = {GOB_FIELD_FREE, 0};
    const uint8_t overrun[] = {GOB_FIELD_TEXT + 5, 'a', 'b'};
    const uint8_t loose_field[] = {1, 7, 0};
    const uint8_t loose_value[] = {GOB_FIELD_TEXT | GOB_VALUE_INT << GOB_FIELD_BITS, 7, 0};
    const uint8_t no_value[] = {GOB_FIELD_TEXT | GOB_VALUE_INT << GOB_FIELD_BITS};
    const uint8_t no_uuid[] = {GOB_FIELD_TEXT | GOB_VALUE_UUID << GOB_FIELD_BITS, 1};
    const uint8_t no_double[] = {GOB_FIELD_TEXT | GOB_VALUE_FLOAT << GOB_FIELD_BITS, 1};
    const uint8_t no_length[] = {GOB_FIELD_LONG, 0x80};
    const uint8_t short_field[] = {GOB_FIELD_LONG, 1, 'a'};
    CHECK_FAULT(gob_record_validate(overrun, 0, &why), why, "record: no head");
    CHECK_FAULT(gob_record_validate(free_record, 2, &why), why, "record: no head");
    CHECK_FAULT(gob_record_validate(overrun, 3, &why), why, "record: field overrun");
    CHECK_FAULT(gob_record_validate(no_length, 1, &why), why, "record: field overrun");
    CHECK_FAULT(gob_record_validate(no_length, 2, &why), why, "record: field overrun");
    CHECK_FAULT(gob_record_validate(short_field, 3, &why), why, "record: field overrun");
    CHECK_FAULT(gob_record_validate(loose_field, 3, &why), why, "record: field");
    CHECK_FAULT(gob_record_validate(loose_value, 3, &why), why, "record: value");
    CHECK_FAULT(gob_record_validate(no_value, 1, &why), why, "record: value");
    CHECK_FAULT(gob_record_validate(no_uuid, 2, &why), why, "record: value");
    CHECK_FAULT(gob_record_validate(no_double, 2, &why), why, "record: value");
}

/* Lengths that are not trusted: what was written, and nothing else. */
static void test_parsed_lengths(void)
{
    static const size_t lengths[] = {0, 1, 127, 128, 16383, 16384, 2097152, 268435456, INT32_MAX};
    static const uint8_t bad[][6] = {
        {0x80},                            /* cut off */
        {0x80, 0},                         /* not the shortest */
        {0xFF, 0xFF, 0x80, 0},             /* nor this one */
        {0x80, 0x80, 0x80, 0x80, 8},       /* 2 GiB */
        {0x80, 0x80, 0x80, 0x80, 0x80, 1}, /* and more than any number has */
        {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF},
    };
    static const size_t bad_bytes[] = {1, 2, 4, 5, 6, 6};
    size_t length;
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint8_t bytes[6];
        const uint8_t *end = gob_length_write(bytes, lengths[i]);
        CHECK(gob_length_parse(bytes, end, &length) == end && length == lengths[i]);
        CHECK(gob_length_parse(bytes, end - 1, &length) == NULL);
    }
    for (size_t i = 0; i < sizeof bad_bytes / sizeof bad_bytes[0]; i++) {
        CHECK(gob_length_parse(bad[i], bad[i] + bad_bytes[i], &length) == NULL);
    }
}

/* Each byte string of a kind is as it would be written, or is not. */
static void test_encoded(void)
{
    const uint8_t bytes[GOB_UUID_BYTES + 1] = {7};
    CHECK(gob_is_encoded(GOB_VALUE_TEXT, text_of("07"), true));
    CHECK(gob_is_encoded(GOB_VALUE_TEXT, text_of("7"), false));
    CHECK(!gob_is_encoded(GOB_VALUE_TEXT, text_of("7"), true));
    CHECK(!gob_is_encoded(GOB_VALUE_TEXT, text_of(odd_texts[25]), true));
    for (size_t len = 0; len <= sizeof bytes; len++) {
        gob_name name = {bytes, len};
        CHECK(gob_is_encoded(GOB_VALUE_INT, name, true) == (len == 1));
        CHECK(gob_is_encoded(GOB_VALUE_UUID, name, true) == (len == GOB_UUID_BYTES));
        CHECK(gob_is_encoded(GOB_VALUE_FLOAT, name, true) == (len == sizeof(double)));
        CHECK(!gob_is_encoded(GOB_VALUE_NONE, name, true));
    }
}

static void test_lengths(void)
{
    const size_t lengths[] = {0, 1, 127, 128, 16383, 16384, 2097151, 2097152, INT32_MAX};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        uint8_t room[8];
        size_t length;
        uint8_t *end = gob_length_write(room, lengths[i]);
        CHECK((size_t)(end - room) == gob_length_bytes(lengths[i]));
        CHECK(gob_length_read(room, &length) == end && length == lengths[i]);
    }
}

int main(void)
{
    fill_entry_pool();
    test_integers();
    test_near_misses();
    test_uuids();
    test_random_integers();
    test_floats();
    test_records();
    test_kinds_differ();
    test_faults();
    test_parsed_lengths();
    test_encoded();
    test_lengths();
    return test_report();
}
