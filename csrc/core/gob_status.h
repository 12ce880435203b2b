/* The one status enum of the core. Every call that can fail returns it; nothing uses errno. */
#ifndef GOB_STATUS_H
#define GOB_STATUS_H

typedef enum gob_status {
    GOB_OK = 0,
    GOB_NOMEM,     /* an allocation failed; the object is as it was */
    GOB_NAN,       /* the result would be NaN; nothing changed */
    GOB_RANGE,     /* a finite value does not fit the score's width; nothing changed */
    GOB_TOO_LARGE, /* a size passes what the structure can address */
    GOB_MALFORMED, /* bytes that are no legal input */
    GOB_STOPPED,   /* what the caller gave to be called back said so */
} gob_status;

#define GOB_TRY(call)                                                                              \
    do {                                                                                           \
        gob_status try_status_ = (call);                                                           \
        if (try_status_ != GOB_OK) {                                                               \
            return try_status_;                                                                    \
        }                                                                                          \
    } while (0)

#endif
