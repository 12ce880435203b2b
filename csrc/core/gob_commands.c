/* A command is read token by token; each token is decoded at the end of the run's text, and stays
 * there if it is a key or a member. Only a whole, sound command moves the run's counters. */
#include "gob_commands.h"

#include "gob_text.h"

/* What reading one token or one command came to. */
typedef enum outcome {
    TAKEN,
    ENDED,      /* no more tokens in this command */
    INCOMPLETE, /* the block ends inside the command */
    NEXT_RUN,   /* a sound beginning, but of another verb or key */
    FAULTY,     /* see run->fault */
} outcome;

typedef struct cursor {
    const char *at;
    const char *stop;
    bool resp;
    int64_t bulks; /* RESP: strings still to come */
    gob_commands_fault fault;
} cursor;

static outcome fail(cursor *c, gob_commands_fault fault)
{
    c->fault = fault;
    return FAULTY;
}

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* In Redis, \v and \f are blanks before a token but belong to it inside. */
static bool ends_token(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* The byte after a backslash in double quotes. */
static char control_escape(char c)
{
    switch (c) {
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'b':
        return '\b';
    case 'a':
        return '\a';
    default:
        return c;
    }
}

/* One character between double quotes: itself or an escape. */
static char read_double_quoted(cursor *c)
{
    const char *p = c->at;
    if (*p != '\\' || c->stop - p < 2) {
        c->at = p + 1;
        return *p;
    }
    if (p[1] == 'x' && c->stop - p >= 4 && hex_digit(p[2]) >= 0 && hex_digit(p[3]) >= 0) {
        c->at = p + 4;
        return (char)(hex_digit(p[2]) * 16 + hex_digit(p[3]));
    }
    c->at = p + 2;
    return control_escape(p[1]);
}

/* One character between single quotes, where only \' is an escape. */
static char read_single_quoted(cursor *c)
{
    if (c->stop - c->at >= 2 && c->at[0] == '\\' && c->at[1] == '\'') {
        c->at++;
    }
    return *c->at++;
}

/* The rest of a token from its opening quote on; a closing quote must end the token. */
static outcome read_quoted(cursor *c, char *out, size_t *length)
{
    char quote = *c->at++;
    while (c->at < c->stop) {
        if (*c->at == quote) {
            c->at++;
            bool at_end = c->at == c->stop || is_blank(*c->at);
            return at_end ? TAKEN : fail(c, GOB_COMMANDS_QUOTES);
        }
        out[(*length)++] = quote == '"' ? read_double_quoted(c) : read_single_quoted(c);
    }
    return fail(c, GOB_COMMANDS_QUOTES);
}

static outcome read_inline_token(cursor *c, char *out, size_t *length)
{
    while (c->at < c->stop && is_blank(*c->at)) {
        c->at++;
    }
    if (c->at == c->stop) {
        return ENDED;
    }
    *length = 0;
    while (c->at < c->stop && !ends_token(*c->at)) {
        if (*c->at == '"' || *c->at == '\'') {
            return read_quoted(c, out, length);
        }
        out[(*length)++] = *c->at++;
    }
    return TAKEN;
}

/* "<mark><number>\r\n" of a RESP array or string. */
static outcome read_resp_header(cursor *c, char mark, int64_t *number)
{
    enum { HEADER_MAX = 32 };
    size_t available = (size_t)(c->stop - c->at);

    if (available == 0) {
        return INCOMPLETE;
    }
    size_t window = available < HEADER_MAX ? available : HEADER_MAX;
    const char *newline = memchr(c->at, '\n', window);
    if (*c->at != mark || (newline == NULL && available >= HEADER_MAX)) {
        return fail(c, GOB_COMMANDS_PROTOCOL);
    }
    if (newline == NULL) {
        return INCOMPLETE;
    }
    if (newline - c->at < 2 || newline[-1] != '\r' ||
        !gob_parse_int64(c->at + 1, (size_t)(newline - c->at) - 2, number)) {
        return fail(c, GOB_COMMANDS_PROTOCOL);
    }
    c->at = newline + 1;
    return TAKEN;
}

static outcome read_bulk_string(cursor *c, char *out, size_t *length)
{
    int64_t size;

    if (c->bulks <= 0) {
        return ENDED;
    }
    outcome header = read_resp_header(c, '$', &size);
    if (header != TAKEN) {
        return header;
    }
    if (size < 0) {
        return fail(c, GOB_COMMANDS_PROTOCOL);
    }
    if (c->stop - c->at < 2 || size > c->stop - c->at - 2) {
        return INCOMPLETE;
    }
    *length = (size_t)size;
    memcpy(out, c->at, *length);
    c->at += size;
    if (memcmp(c->at, "\r\n", 2) != 0) {
        return fail(c, GOB_COMMANDS_PROTOCOL);
    }
    c->at += 2;
    c->bulks--;
    return TAKEN;
}

static outcome read_token(cursor *c, char *out, size_t *length)
{
    return c->resp ? read_bulk_string(c, out, length) : read_inline_token(c, out, length);
}

/* Place the cursor on the first token; an inline command ends at its newline. */
static outcome open_command(cursor *c, const char *data, const char *stop)
{
    *c = (cursor){.at = data, .stop = stop, .resp = *data == '*'};
    if (c->resp) {
        return read_resp_header(c, '*', &c->bulks);
    }
    c->stop = memchr(data, '\n', (size_t)(stop - data));
    return c->stop == NULL ? INCOMPLETE : TAKEN;
}

/* Words compare without regard to case; `word` is in upper case. */
static bool equals_word(const char *text, size_t length, const char *word)
{
    if (length != strlen(word)) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        char c = text[i];
        if ((c >= 'a' && c <= 'z' ? c - ('a' - 'A') : c) != word[i]) {
            return false;
        }
    }
    return true;
}

static bool is_option(const char *text, size_t length)
{
    static const char *const options[] = {"NX", "XX", "GT", "LT", "CH", "INCR"};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        if (equals_word(text, length, options[i])) {
            return true;
        }
    }
    return false;
}

static outcome read_verb(cursor *c, char *scratch, gob_commands_verb *verb)
{
    size_t length;
    outcome token = read_token(c, scratch, &length);
    if (token != TAKEN) {
        return token;
    }
    if (equals_word(scratch, length, "ZINCRBY")) {
        *verb = GOB_COMMANDS_ZINCRBY;
    } else if (equals_word(scratch, length, "ZADD")) {
        *verb = GOB_COMMANDS_ZADD;
    } else {
        return fail(c, GOB_COMMANDS_UNKNOWN);
    }
    return TAKEN;
}

/* A score and its member as pair number `count`, the member from text[write] on. */
static outcome read_pair(cursor *c, gob_commands_run *run, size_t count, size_t write)
{
    char *scratch = run->text + write;
    size_t length;
    outcome token = read_token(c, scratch, &length);
    if (token != TAKEN) {
        return token;
    }
    if (!gob_parse_score(scratch, length, &run->scores[count])) {
        return fail(c, is_option(scratch, length) ? GOB_COMMANDS_OPTION : GOB_COMMANDS_SCORE);
    }
    token = read_token(c, scratch, &length);
    if (token == TAKEN) {
        run->stops[count + 1] = (int64_t)(write + length);
    }
    return token == ENDED ? fail(c, GOB_COMMANDS_ARITY) : token;
}

/* The key: the run's own where it has one, else it becomes the run's. */
static outcome read_key(cursor *c, gob_commands_run *run, size_t write)
{
    size_t length;
    outcome token = read_token(c, run->text + write, &length);
    if (token != TAKEN) {
        return token == ENDED ? fail(c, GOB_COMMANDS_ARITY) : token;
    }
    if (run->count == 0) {
        run->stops[0] = (int64_t)length;
        return TAKEN;
    }
    bool same =
        length == (size_t)run->stops[0] && memcmp(run->text + write, run->text, length) == 0;
    return same ? TAKEN : NEXT_RUN;
}

/* Read the command under the cursor into the run; only a whole one counts. */
static outcome take_command(gob_commands_run *run, cursor *c)
{
    gob_commands_verb verb;
    size_t count = run->count;
    size_t write = count == 0 ? 0 : (size_t)run->stops[count];

    outcome step = read_verb(c, run->text + write, &verb);
    if (step != TAKEN) {
        return step;
    }
    if (count > 0 && verb != run->verb) {
        return NEXT_RUN;
    }
    step = read_key(c, run, write);
    if (step != TAKEN) {
        return step;
    }
    while ((step = read_pair(c, run, count, (size_t)run->stops[count])) == TAKEN) {
        count++;
    }
    if (step != ENDED) {
        return step;
    }
    if (count == run->count || (verb == GOB_COMMANDS_ZINCRBY && count != run->count + 1)) {
        return fail(c, GOB_COMMANDS_ARITY);
    }
    run->verb = verb;
    run->count = count;
    return TAKEN;
}

gob_status gob_commands_read(gob_commands_run *run, const char *data, size_t length)
{
    const char *stop = data + length;

    run->count = run->consumed = run->lines = 0;
    run->fault = GOB_COMMANDS_SOUND;
    while (run->consumed < length) {
        cursor c;
        outcome step = open_command(&c, data + run->consumed, stop);
        if (step == TAKEN) {
            step = take_command(run, &c);
        }
        if (step == INCOMPLETE || step == NEXT_RUN) {
            break;
        }
        if (step == FAULTY) {
            run->fault = c.fault;
            return GOB_MALFORMED;
        }
        /* ENDED: a blank line or an empty array, which a server passes over too. */
        run->consumed = (size_t)((c.resp ? c.at : c.stop + 1) - data);
        run->lines++;
    }
    return GOB_OK;
}

bool gob_commands_integers(const char *text, const int64_t *stops, size_t count, int64_t *out)
{
    for (size_t i = 0; i < count; i++) {
        size_t length = (size_t)(stops[i + 1] - stops[i]);
        if (!gob_parse_int64(text + stops[i], length, &out[i])) {
            return false;
        }
    }
    return true;
}
