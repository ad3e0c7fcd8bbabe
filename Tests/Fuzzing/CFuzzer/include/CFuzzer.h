#pragma once
#include <stddef.h>
#include <stdint.h>

/// libFuzzer's own loop; the library has no header of its own for it.
int LLVMFuzzerRunDriver(
    int *argc, char ***argv, int (*one)(const uint8_t *data, size_t size));
