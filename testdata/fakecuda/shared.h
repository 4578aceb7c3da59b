/* What the fake CUDA driver tells the fake NVML: a file of this form, named in FAKECUDA_SHARED
 * and in a scenario's "cuda FILE". */
#include <stdint.h>

#define SHARED_ROWS 1024

struct shared_row {
	int32_t pid, device; /* pid 0: free */
	uint64_t bytes;      /* with the context's own */
};

struct shared {
	uint32_t lock;
	uint32_t rows;
	uint64_t capacity; /* of each device */
	struct shared_row row[SHARED_ROWS];
};
