/* A game is read line by line: `memchr` finds the ends of lines, and of the moves, which are most
 * of the text, only the last brace of a line matters: it tells whether the next line is a comment.
 */
#include "gob_pgn.h"

#include "gob_text.h"

enum tag {
    WHITE = GOB_PGN_WHITE,
    BLACK = GOB_PGN_BLACK,
    EVENT = GOB_PGN_EVENT,
    RESULT = GOB_PGN_RESULT,
    TERMINATION = GOB_PGN_TERMINATION,
    VARIANT,
    UTC_DATE,
    UTC_TIME,
    WHITE_ELO,
    BLACK_ELO,
    WHITE_DIFF,
    BLACK_DIFF,
    OTHER, /* takes the tags that nobody asks for */
    TAGS,
};

/* What reading a game, or a part of one, came to. */
typedef enum outcome {
    NOTHING,    /* the block ends before the game */
    MOVES,      /* the tags are read */
    NEXT_GAME,  /* the game is whole */
    INCOMPLETE, /* the block ends inside the game */
    FAULTY,     /* no game starts here */
} outcome;

typedef struct span {
    const char *at;
    size_t length;
} span;

typedef struct game {
    span values[TAGS]; /* with their escapes; at is NULL where the tag is absent */
    const char *moves; /* where they begin; NULL: there are none */
    bool comment;      /* one is open at the end of their first line */
} game;

typedef struct cursor {
    const char *at;
    const char *stop;
    size_t lines;
} cursor;

/* Without the blanks, or the byte-order mark, before and the newline after. */
typedef struct line {
    const char *at;
    const char *stop;
    bool escaped; /* by a % in its first column */
} line;

static bool is_blank(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static const char *skip_blanks(const char *at, const char *stop)
{
    while (at < stop && is_blank(*at)) {
        at++;
    }
    return at;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

/* Without regard to case; `word` is in lower case. */
static bool starts_with(span text, const char *word, size_t length)
{
    if (text.length < length) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        if (lower(text.at[i]) != word[i]) {
            return false;
        }
    }
    return true;
}

static bool is_word(span text, const char *word, size_t length)
{
    return text.length == length && starts_with(text, word, length);
}

static bool equals(span text, const char *other, size_t length)
{
    return text.length == length && memcmp(text.at, other, length) == 0;
}

/* A byte-order mark can start any line, for files are joined. */
static const char *skip_mark(const char *at, const char *stop)
{
    return stop - at >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0 ? at + 3 : at;
}

/* False where the block ends before the line does. */
static bool next_line(cursor *c, line *l)
{
    const char *newline = memchr(c->at, '\n', (size_t)(c->stop - c->at));
    if (newline == NULL) {
        return false;
    }
    l->escaped = *c->at == '%';
    l->at = c->at;
    l->stop = newline;
    l->at = skip_blanks(skip_mark(l->at, newline), newline);
    c->at = newline + 1;
    c->lines++;
    return true;
}

static enum tag tag_of(const char *name, size_t length)
{
    static const struct {
        const char *name;
        uint8_t length;
        uint8_t tag;
    } known[] = {
        {"Event", 5, EVENT},
        {"White", 5, WHITE},
        {"Black", 5, BLACK},
        {"Result", 6, RESULT},
        {"UTCDate", 7, UTC_DATE},
        {"UTCTime", 7, UTC_TIME},
        {"Variant", 7, VARIANT},
        {"WhiteElo", 8, WHITE_ELO},
        {"BlackElo", 8, BLACK_ELO},
        {"Termination", 11, TERMINATION},
        {"WhiteRatingDiff", 15, WHITE_DIFF},
        {"BlackRatingDiff", 15, BLACK_DIFF},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (length == known[i].length && memcmp(name, known[i].name, length) == 0) {
            return (enum tag)known[i].tag;
        }
    }
    return OTHER;
}

/* The quote that ends a value: not escaped, and followed by a bracket. */
static const char *value_end(const char *value, const char *stop)
{
    for (const char *at = value; at < stop; at++) {
        at = memchr(at, '"', (size_t)(stop - at));
        if (at == NULL) {
            return NULL;
        }
        const char *slashes = at;
        while (slashes > value && slashes[-1] == '\\') {
            slashes--;
        }
        const char *bracket = skip_blanks(at + 1, stop);
        if ((at - slashes) % 2 == 0 && bracket < stop && *bracket == ']') {
            return at;
        }
    }
    return NULL;
}

/* The name of the tag at the start of some text; .at is NULL where there is no bracket, name and
 * quote. */
static span tag_name(const char *at, const char *stop)
{
    if (at == stop || *at != '[') {
        return (span){NULL, 0};
    }
    const char *name = skip_blanks(at + 1, stop);
    const char *end = name;
    while (end < stop && !is_blank(*end) && *end != '"') {
        end++;
    }
    const char *quote = skip_blanks(end, stop);
    bool quoted = end > name && quote < stop && *quote == '"';
    return (span){quoted ? name : NULL, (size_t)(end - name)};
}

static bool is_event(span name)
{
    return name.at != NULL && equals(name, "Event", 5);
}

static const char *tag_value(span name, const char *stop)
{
    return skip_blanks(name.at + name.length, stop) + 1;
}

/* Take the tag at the start of some text: what follows it, or NULL where there is no whole tag. */
static const char *read_tag(game *g, const char *at, const char *stop)
{
    span name = tag_name(at, stop);
    if (name.at == NULL) {
        return NULL;
    }
    const char *value = tag_value(name, stop);
    const char *end = value_end(value, stop);
    if (end == NULL) {
        return NULL;
    }
    g->values[tag_of(name.at, name.length)] = (span){value, (size_t)(end - value)};
    return skip_blanks(skip_blanks(end + 1, stop) + 1, stop);
}

/* Take the tags at the start of a line: where moves begin behind them, or NULL. A bracket without a
 * whole tag is left out with the rest of its line, so that it does not end the game's tags. */
static const char *read_tags(game *g, const line *l)
{
    const char *at = l->at;
    while (at < l->stop && *at == '[') {
        at = read_tag(g, at, l->stop);
        if (at == NULL) {
            return NULL;
        }
    }
    return at < l->stop && *at != ';' ? at : NULL;
}

/* The last brace of either kind; NULL where there is none. */
static const char *last_brace(const char *at, const char *stop)
{
    const uint64_t ones = 0x0101010101010101U;
    for (; stop - at >= 8; stop -= 8) {
        uint64_t word = gob_load_ordered(stop - 8);
        uint64_t hits = gob_match_bytes(word, ones * '{') | gob_match_bytes(word, ones * '}');
        if (hits != 0) {
            return stop - 8 + (gob_bit_width(hits) - 1) / 8;
        }
    }
    while (stop > at) {
        stop--;
        if (*stop == '{' || *stop == '}') {
            return stop;
        }
    }
    return NULL;
}

/* The same for a line whose last brace opens, for it may be text of either kind of comment. */
static bool opens_comment(const char *at, const char *stop, bool open)
{
    for (; at < stop; at++) {
        if (open) {
            open = *at != '}';
        } else if (*at == ';') {
            return false;
        } else {
            open = *at == '{';
        }
    }
    return open;
}

/* Whether the line after these moves is within a comment. Whatever comes before the last closing
 * brace, no comment is open behind it. */
static bool comment_after(const char *at, const char *stop, bool open)
{
    const char *brace = last_brace(at, stop);
    if (brace == NULL) {
        return open;
    }
    return *brace == '{' && opens_comment(at, stop, open);
}

/* A line of the moves, outside of comments. */
static bool starts_game(const line *l)
{
    span name = tag_name(l->at, l->stop);
    return is_event(name) || (name.at != NULL && value_end(tag_value(name, l->stop), l->stop));
}

static bool is_result(span token)
{
    return equals(token, "1-0", 3) || equals(token, "0-1", 3) || equals(token, "1/2-1/2", 7) ||
           equals(token, "*", 1);
}

static const char *find(const char *at, const char *stop, char c)
{
    const char *found = memchr(at, c, (size_t)(stop - at));
    return found == NULL ? stop : found;
}

static bool ends_token(char c)
{
    return is_blank(c) || c == '{' || c == ';';
}

/* Whether the last that is no comment is a result; whole lines are given. */
static bool ends_in_result(const char *at, const char *stop)
{
    span token = {at, 0};
    while (at < stop) {
        if (*at == '{') {
            at = find(at, stop, '}');
            if (at == stop) {
                return false;
            }
            at++;
        } else if (*at == ';' || (*at == '%' && at[-1] == '\n')) {
            at = find(at, stop, '\n');
        } else if (*at == '\n') {
            at = skip_mark(at + 1, stop);
        } else if (is_blank(*at)) {
            at++;
        } else {
            token.at = at;
            while (at < stop && !ends_token(*at)) {
                at++;
            }
            token.length = (size_t)(at - token.at);
        }
    }
    return is_result(token);
}

/* Outside of moves. */
static bool is_blank_or_comment(const line *l)
{
    return l->escaped || l->at == l->stop || *l->at == ';';
}

/* Up to the line where a game starts. */
static void skip_to_game(cursor *c)
{
    cursor before = *c;
    line l;

    for (; next_line(c, &l); before = *c) {
        if (!is_blank_or_comment(&l)) {
            *c = before;
            return;
        }
    }
}

/* The tags of a game, until its moves or the next game begin. */
static outcome read_header(game *g, cursor *c)
{
    outcome state = NOTHING;
    cursor before = *c;
    line l;

    for (; next_line(c, &l); before = *c) {
        if (is_blank_or_comment(&l)) {
            continue;
        }
        if (state == NOTHING && !starts_game(&l)) {
            *c = before;
            return FAULTY;
        }
        span name = tag_name(l.at, l.stop);
        bool event = is_event(name);
        if (event && g->values[EVENT].at != NULL) {
            *c = before;
            return NEXT_GAME;
        }
        state = INCOMPLETE;
        if (event) {
            g->values[EVENT] = (span){name.at, 0}; /* even where the value cannot be read */
        }
        g->moves = read_tags(g, &l);
        if (g->moves != NULL) {
            g->comment = comment_after(g->moves, l.stop, false);
            return MOVES;
        }
    }
    return state;
}

/* Pass over the moves that follow the first line of them. */
static outcome skip_moves(const game *g, cursor *c)
{
    bool comment = g->comment;
    cursor before = *c;
    line l;

    for (; next_line(c, &l); before = *c) {
        if (comment || !l.escaped) {
            if (!comment && starts_game(&l)) {
                *c = before;
                return NEXT_GAME;
            }
            comment = comment_after(l.at, l.stop, comment);
        }
    }
    return INCOMPLETE;
}

/* "YYYY.MM.DD" and "HH:MM:SS" as seconds since 1970; INT64_MIN where either is none. */
static int64_t utc_seconds(span date, span time)
{
    const char *d = date.at;
    const char *t = time.at;

    if (date.length != 10 || time.length != 8 || d[4] != '.' || d[7] != '.' || t[2] != ':' ||
        t[5] != ':') {
        return INT64_MIN;
    }
    int64_t days = gob_days_since_epoch(gob_parse_digits(d, 4), gob_parse_digits(d + 5, 2),
                                        gob_parse_digits(d + 8, 2));
    int64_t hour = gob_parse_digits(t, 2);
    int64_t minute = gob_parse_digits(t + 3, 2);
    int64_t second = gob_parse_digits(t + 6, 2);
    if (days == GOB_NO_DATE || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
        second > 59) {
        return INT64_MIN;
    }
    return ((days * 24 + hour) * 60 + minute) * 60 + second;
}

/* -1 where there is none. */
static int32_t read_elo(span text)
{
    enum { MAX_DIGITS = 4 };
    bool fits = text.length > 0 && text.length <= MAX_DIGITS;
    return fits ? (int32_t)gob_parse_digits(text.at, text.length) : -1;
}

/* "+5", "-5" or "5"; 0 where there is none. */
static int32_t read_diff(span text)
{
    bool has_sign = text.length > 0 && (*text.at == '+' || *text.at == '-');
    int32_t size = has_sign ? read_elo((span){text.at + 1, text.length - 1}) : read_elo(text);
    if (size < 0) {
        return 0;
    }
    return *text.at == '-' ? -size : size;
}

static span next_word(span text)
{
    if (text.length == 0) {
        return text;
    }
    const char *stop = text.at + text.length;
    const char *at = skip_blanks(text.at, stop);
    size_t length = 0;
    while (at + length < stop && !is_blank(at[length])) {
        length++;
    }
    return (span){at, length};
}

static bool is_casual(span event)
{
    return starts_with(event, "casual", 6);
}

/* The event's first word, or its second after "Rated" or "Casual". */
static gob_pgn_speed speed_of(span event)
{
    static const struct {
        const char *word;
        uint8_t length;
        uint8_t speed;
    } known[] = {
        {"bullet", 6, GOB_PGN_BULLET},
        {"blitz", 5, GOB_PGN_BLITZ},
        {"rapid", 5, GOB_PGN_RAPID},
        {"classical", 9, GOB_PGN_CLASSICAL},
        {"ultrabullet", 11, GOB_PGN_ULTRABULLET},
        {"correspondence", 14, GOB_PGN_CORRESPONDENCE},
        {"standard", 8, GOB_PGN_CLASSICAL}, /* its name in the oldest files */
    };
    span word = next_word(event);
    if (is_word(word, "rated", 5) || is_word(word, "casual", 6)) {
        const char *rest = word.at + word.length;
        word = next_word((span){rest, (size_t)(event.at + event.length - rest)});
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (is_word(word, known[i].word, known[i].length)) {
            return (gob_pgn_speed)known[i].speed;
        }
    }
    return GOB_PGN_NO_SPEED;
}

/* Whether a Variant tag's letters and digits are the wanted ones; none is "standard". */
static bool is_variant(const gob_pgn_scan *scan, span value)
{
    static const char standard[] = "standard";
    size_t matched = 0;

    if (value.at == NULL) {
        return scan->variant_length == sizeof standard - 1 &&
               memcmp(scan->variant, standard, sizeof standard - 1) == 0;
    }
    for (size_t i = 0; i < value.length; i++) {
        char c = lower(value.at[i]);
        if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) {
            if (matched == scan->variant_length || scan->variant[matched] != c) {
                return false;
            }
            matched++;
        }
    }
    return matched == scan->variant_length;
}

/* Write a value with its escapes undone: how many bytes it came to. */
static size_t unescape(char *out, span value)
{
    if (value.length == 0) {
        return 0;
    }
    if (memchr(value.at, '\\', value.length) == NULL) {
        memcpy(out, value.at, value.length);
        return value.length;
    }
    size_t written = 0;
    for (size_t i = 0; i < value.length; i++) {
        bool escape = value.at[i] == '\\' && i + 1 < value.length &&
                      (value.at[i + 1] == '\\' || value.at[i + 1] == '"');
        i += escape;
        out[written++] = value.at[i];
    }
    return written;
}

static bool is_player(span name)
{
    static const char computer[] = "lichess AI";
    bool is_computer =
        name.length >= sizeof computer - 1 && memcmp(name.at, computer, sizeof computer - 1) == 0;
    return name.length > 0 && !is_computer && !equals(name, "?", 1) &&
           !equals(name, "Anonymous", 9);
}

static void write_observation(gob_pgn_scan *scan, span name, int32_t rating, int32_t diff,
                              gob_pgn_speed speed)
{
    gob_pgn_output *out = &scan->out;
    size_t slot = scan->observations;

    if (!is_player(name)) {
        scan->no_player++;
        return;
    }
    if (rating < 0) {
        scan->no_rating++;
        return;
    }
    memcpy(out->players + out->player_stops[slot], name.at, name.length);
    out->player_stops[slot + 1] = out->player_stops[slot] + (int64_t)name.length;
    out->ratings[slot] = rating;
    out->ratings_after[slot] = rating + diff;
    out->speeds[slot] = (uint8_t)speed;
    scan->observations++;
}

static void write_game(gob_pgn_scan *scan, const game *g)
{
    gob_pgn_output *out = &scan->out;
    size_t row = scan->games++;
    int64_t *stops = out->text_stops + row * GOB_PGN_TEXTS;
    gob_pgn_speed speed = speed_of(g->values[EVENT]);

    for (size_t i = 0; i < GOB_PGN_TEXTS; i++) {
        stops[i + 1] = stops[i] + (int64_t)unescape(out->texts + stops[i], g->values[i]);
    }
    out->utc[row] = utc_seconds(g->values[UTC_DATE], g->values[UTC_TIME]);
    for (size_t side = 0; side < 2; side++) {
        span name = {out->texts + stops[side], (size_t)(stops[side + 1] - stops[side])};
        int32_t elo = read_elo(g->values[WHITE_ELO + side]);
        int32_t diff = read_diff(g->values[WHITE_DIFF + side]);
        out->elo[side][row] = elo;
        out->diff[side][row] = diff;
        write_observation(scan, name, elo, diff, speed);
    }
}

static void take_game(gob_pgn_scan *scan, const game *g)
{
    bool casual = is_casual(g->values[EVENT]);
    if (scan->kind != GOB_PGN_ANY && casual != (scan->kind == GOB_PGN_CASUAL)) {
        scan->other_kind++;
    } else if (scan->variant != NULL && !is_variant(scan, g->values[VARIANT])) {
        scan->other_variant++;
    } else {
        write_game(scan, g);
    }
}

/* What is before the cursor is read. */
static void consume(gob_pgn_scan *scan, const cursor *c, const char *data)
{
    scan->consumed = (size_t)(c->at - data);
    scan->lines = c->lines;
}

gob_status gob_pgn_read(gob_pgn_scan *scan, const char *data, size_t length)
{
    cursor c = {data, data + length, 0};

    scan->consumed = scan->lines = scan->games = scan->observations = 0;
    scan->other_kind = scan->other_variant = scan->no_player = scan->no_rating = 0;
    scan->out.text_stops[0] = scan->out.player_stops[0] = 0;
    while (scan->games < scan->out.capacity) {
        game g = {0};
        skip_to_game(&c);
        consume(scan, &c, data);
        outcome step = read_header(&g, &c);
        if (step == MOVES) {
            step = skip_moves(&g, &c);
        }
        bool whole = step == NEXT_GAME || (step == INCOMPLETE && scan->final && g.moves != NULL &&
                                           ends_in_result(g.moves, c.at));
        if (!whole) {
            return step == FAULTY ? GOB_MALFORMED : GOB_OK;
        }
        take_game(scan, &g);
        consume(scan, &c, data);
    }
    return GOB_OK;
}
