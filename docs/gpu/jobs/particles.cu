// Particle simulation; neighbor lists are rebuilt every few steps.
// build: nvcc -O2 -o particles particles.cu     run: ./particles [steps] [rebuild_every]
#include <cuda_runtime.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

#define CHECK(call)                                                                         \
    do {                                                                                    \
        cudaError_t e_ = (call);                                                            \
        if (e_ != cudaSuccess) {                                                            \
            fprintf(stderr, "%s:%d: CUDA error %d: %s\n", __FILE__, __LINE__, (int)e_,      \
                    cudaGetErrorString(e_));                                                \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

static const size_t kParticles = 1 << 22;
static const size_t kNeighbors = 64;

__global__ void init_particles(float4 *p, size_t n) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i < n) p[i] = make_float4((float)(i & 255), (float)((i >> 8) & 255), (float)(i >> 16), 1.0f);
}

__global__ void build_list(const float4 *p, int *list, size_t n, size_t k) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (size_t j = 0; j < k; ++j) list[j * n + i] = (int)((i + j * 37 + (size_t)p[i].w) % n);
}

__global__ void advance(float4 *p, const int *list, size_t n, size_t k, float dt) {
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    if (i >= n) return;
    float fx = 0.f;
    for (size_t j = 0; j < k; ++j) fx += p[list[j * n + i]].x - p[i].x;
    p[i].y += dt * fx / (float)k;
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 400;
    int rebuild_every = argc > 2 ? atoi(argv[2]) : 2;
    const char *lock = getenv("GPU_LOCK");
    if (lock) {
        int fd = open(lock, O_RDWR | O_CREAT, 0666);
        int hi = fd >= 0 ? fcntl(fd, F_DUPFD_CLOEXEC, 900) : -1;
        if (hi >= 0) { close(fd); fd = hi; }
        while (fd >= 0 && flock(fd, LOCK_EX) != 0 && errno == EINTR) {}
        usleep(300000);
    }
    const int threads = 256;
    const unsigned blocks = (unsigned)((kParticles + threads - 1) / threads);
    float4 *p = NULL;
    int *list = NULL;
    CHECK(cudaMalloc((void **)&p, kParticles * sizeof(float4)));
    init_particles<<<blocks, threads>>>(p, kParticles);
    CHECK(cudaGetLastError());
    for (int s = 0; s < steps; ++s) {
        if (s % rebuild_every == 0) {
            CHECK(cudaMalloc((void **)&list, kParticles * kNeighbors * sizeof(int)));
            build_list<<<blocks, threads>>>(p, list, kParticles, kNeighbors);
            CHECK(cudaGetLastError());
        }
        advance<<<blocks, threads>>>(p, list, kParticles, kNeighbors, 0.001f);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        usleep(45000);
        if (s % 20 == 0) { printf("step %d of %d\n", s, steps); fflush(stdout); }
    }
    CHECK(cudaFree(list));
    CHECK(cudaFree(p));
    printf("done\n");
    return 0;
}
