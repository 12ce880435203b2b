/* Runs a fuzz target over the files named, as libFuzzer would, but built by any compiler. */

#include "gob_fuzz.h"

static void run_file(const char *path)
{
    enum { MOST = 1 << 20 };
    uint8_t *data = allocate(MOST);
    FILE *file = fopen(path, "rb");
    REQUIRE(file != NULL);
    size_t size = fread(data, 1, MOST, file);
    REQUIRE(size < MOST && fclose(file) == 0);
    uint8_t *exact = allocate_copy(data, size);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    free(data);
}

int main(int count, char **paths)
{
    for (int i = 1; i < count; i++) {
        run_file(paths[i]);
    }
    printf("%d inputs\n", count - 1);
    return count > 1 ? 0 : 1; /* a target without inputs has shown nothing */
}
