/* How long work lets others in: every now and then it asks whoever runs it whether to go on.
 *
 * The host, which put a gob_pace into the object's allocator, may take its time over the answer but
 * has to leave the object alone: it is in the middle of something. Told to stop, the work fails as
 * if an allocation had failed, with GOB_STOPPED, and as cleanly; from then on the host says stop
 * each time, until the call has returned. What can't be undone by then ignores the answer, and so
 * does what may fail without harm: its caller goes on without it. */
#ifndef GOB_PACE_H
#define GOB_PACE_H

#include "gob_compiler.h"
#include "gob_config.h"
#include "gob_status.h"

typedef struct gob_pace {
    bool (*goes_on)(struct gob_pace *pace);
    size_t left; /* work until the next question */
} gob_pace;

/* Accounts for work on so many members, or for as much; NULL is a host that never asks to stop. */
GOB_INLINE gob_status gob_spend(gob_pace *pace, size_t work)
{
    if (pace == NULL) {
        return GOB_OK;
    }
    if (GOB_LIKELY(pace->left > work)) {
        pace->left -= work;
        return GOB_OK;
    }
    pace->left = GOB_PACE;
    return pace->goes_on(pace) ? GOB_OK : GOB_STOPPED;
}

#endif
