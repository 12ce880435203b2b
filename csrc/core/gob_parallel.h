/* Two pieces of work at once. The only threads of the core: they live as long as one call, and
 * share what nobody changes. */
#ifndef GOB_PARALLEL_H
#define GOB_PARALLEL_H

typedef struct gob_task {
    void (*run)(void *context);
    void *context;
} gob_task;

/* Runs `here` in the caller's thread and `aside` in another one, which gets no signals; or, where
 * none can be had, afterwards. Both are done when it returns. While `here` has to wait for `aside`,
 * it runs `waiting` every few milliseconds. `here` and `waiting` may fork the process: the child
 * has no other thread, so that it runs `aside` itself, anew where it was under way. */
void gob_parallel(gob_task here, gob_task aside, gob_task waiting);

#endif
