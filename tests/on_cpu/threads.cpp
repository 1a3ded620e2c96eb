#include "threads.hpp"

#include <sys/mman.h>
#include <algorithm>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <vector>

// Saves the stack and the callee-saved registers, and continues where `to` was saved.
extern "C" void on_cpu_switch(void** from, void* to);
asm(R"(
.text
.globl on_cpu_switch
.type on_cpu_switch, @function
on_cpu_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
.size on_cpu_switch, .-on_cpu_switch
)");

namespace on_cpu {
namespace {

constexpr unsigned most_threads = 1024, most_blocks = 8;  // limits of a block and of a cluster
constexpr std::size_t most_shared = 227 * 1024;
// Stacks are not a power of two apart, or the tops of all stacks would share a few cache lines.
constexpr std::size_t stack_bytes = (64 << 10) + 4096, stack_skew = 192;

struct warp {
    unsigned alive, ready, met, at_barrier, at_cluster;  // masks of lanes
    unsigned generation;
    const char* name;  // of the function at which they meet
    unsigned present[2];
    std::uint64_t said[2][warp_lanes];
};

struct block {
    std::vector<warp> warps;
    std::vector<void*> stack_pointers;
    int alive, met, yes;
    counted last;
    const char* name;
    const std::function<void()>* body;
    void* scheduler;
    unsigned self;  // the running thread
    uint3 index;
    std::vector<unsigned> arrived_in;  // for each thread, the phase of the cluster in which it has arrived
};

/// Blocks that run at the same time.
struct cluster {
    std::vector<block> blocks;
    unsigned running = 0;  // number of the running one
    block* now = nullptr;  // the running one
    bool backwards;        // lanes run from the last one on: a missing barrier shows in one of the orders
    int alive, arrived;
    unsigned phase;
    std::size_t shared_bytes;
};

std::mutex running;  // one grid at a time, because shared variables are static
cluster all;
std::vector<std::byte> dynamic_memory;
std::vector<uint3> thread_indices;

block& now() { return *all.now; }
void run_block(unsigned number) { all.running = number, all.now = &all.blocks[number]; }

[[noreturn]] void fail(const char* what, const char* a, const char* c = "") {
    std::fprintf(stderr, "on_cpu: %s: %s %s (block %u, thread %u)\n", what, a, c, blockIdx.x, now().self);
    std::abort();
}

std::byte* stack_top(unsigned thread) {
    static std::byte* const stacks = [] {
        void* const memory = mmap(nullptr, most_blocks * most_threads * (stack_bytes + stack_skew),
                                  PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (memory == MAP_FAILED) fail("no memory", "for stacks");
        return static_cast<std::byte*>(memory);
    }();
    return stacks + (all.running * most_threads + thread + 1) * (stack_bytes + stack_skew);
}

void release_warp(warp& w) {
    if (w.met == 0 || w.met != w.alive) return;
    w.present[w.generation % 2] = w.met;
    w.ready |= w.met, w.met = 0, ++w.generation;
}

void release_cluster() {
    if (all.arrived == 0 || all.arrived != all.alive) return;
    all.arrived = 0, ++all.phase;
    for (block& each : all.blocks)
        for (warp& w : each.warps) w.ready |= w.at_cluster, w.at_cluster = 0;
}

void release_block() {
    block& b = now();
    if (b.met == 0 || b.met != b.alive) return;
    b.last = {b.yes, b.met};
    b.met = b.yes = 0;
    for (warp& w : b.warps) w.ready |= w.at_barrier, w.at_barrier = 0;
}

/// Lets the warp's next ready lane continue where the caller, who is saved in `from`, stops.
void go_to_lane(block& b, unsigned warp_number, void** from) {
    warp& w = b.warps[warp_number];
    const auto lane = static_cast<unsigned>(all.backwards ? 31 - std::countl_zero(w.ready) : std::countr_zero(w.ready));
    w.ready &= ~(1u << lane);
    b.self = warp_number * warp_lanes + lane;
    threadIdx = thread_indices[b.self];
    // The last lane to arrive may be the first to continue.
    if (void** const to = &b.stack_pointers[b.self]; to != from) on_cpu_switch(from, *to);
}

/// Stops the running thread, for another lane of its warp if one is ready.
void stop() {
    block& b = now();
    void** const from = &b.stack_pointers[b.self];
    if (b.warps[b.self / warp_lanes].ready != 0) go_to_lane(b, b.self / warp_lanes, from);
    else on_cpu_switch(from, b.scheduler);
}

void whole_thread() {
    (*now().body)();
    block& b = now();
    warp& w = b.warps[b.self / warp_lanes];
    w.alive &= ~(1u << b.self % warp_lanes);
    --b.alive, --all.alive;
    release_warp(w);
    release_block();
    release_cluster();
    stop();
    std::abort();
}

void start(unsigned threads) {
    block& b = now();
    b.arrived_in.assign(threads, 0);
    b.warps.assign((threads + warp_lanes - 1) / warp_lanes, warp{});
    b.stack_pointers.resize(threads);
    for (unsigned t = 0; t < threads; ++t) {
        void* first[9]{};  // six registers, the entry point, its return address (none), and padding for alignment
        first[6] = reinterpret_cast<void*>(&whole_thread);
        std::byte* const at = stack_top(t) - sizeof(first) - 8;
        std::memcpy(at, first, sizeof(first));
        b.stack_pointers[t] = at;
        warp& w = b.warps[t / warp_lanes];
        w.alive = w.ready |= 1u << t % warp_lanes;
    }
    b.alive = static_cast<int>(threads), b.met = b.yes = 0;
    all.alive += b.alive;
}

/// Lets every ready lane continue.
bool step(unsigned warp_number) {
    block& b = now();
    const bool any = b.warps[warp_number].ready != 0;
    while (b.warps[warp_number].ready != 0) go_to_lane(b, warp_number, &b.scheduler);
    return any;
}

void run_cluster() {
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    const auto blocks = static_cast<unsigned>(all.blocks.size());
    all.backwards = all.blocks.front().index.x / blocks % 2 == 1;
    all.alive = all.arrived = 0, all.phase = 0;
    for (unsigned b = 0; b < blocks; ++b) run_block(b), start(threads);
    while (all.alive > 0) {
        bool any = false;
        // A block runs as far as it can before the next one starts, so that some blocks arrive late.
        const bool last_first = all.phase % 2 == 1;
        for (unsigned b = 0; b < blocks; ++b) {
            run_block(last_first ? blocks - 1 - b : b);
            blockIdx = now().index;
            const auto warps = static_cast<unsigned>(now().warps.size());
            for (bool more = true; more;) {
                more = false;
                for (unsigned i = 0; i < warps; ++i) more |= step(all.backwards ? warps - 1 - i : i);
                any |= more;
            }
        }
        if (any || all.alive == 0) continue;
        run_block(0);
        for (const block& b : all.blocks)
            for (const warp& w : b.warps)
                if (w.met != 0) fail("threads wait for each other for ever", b.met > 0 ? b.name : "", w.name);
        fail("threads wait for each other for ever", now().met > 0 ? now().name : "in a cluster");
    }
    run_block(0);
}

}  // namespace

std::byte* shared_memory() { return dynamic_memory.data() + all.running * all.shared_bytes; }

unsigned rank_in_cluster() { return all.running; }
void* shared_of(const void* mine, unsigned rank) {
    const auto* const at = static_cast<const std::byte*>(mine);
    if (at < shared_memory() || at >= shared_memory() + all.shared_bytes) fail("no shared memory of", "the cluster");
    return dynamic_memory.data() + (at - shared_memory()) + rank * all.shared_bytes;
}
void arrive_in_cluster() {
    now().arrived_in[now().self] = all.phase;
    ++all.arrived;
    release_cluster();
}
void wait_for_cluster() {
    block& b = now();
    if (b.arrived_in[b.self] != all.phase) return;
    b.warps[b.self / warp_lanes].at_cluster |= 1u << b.self % warp_lanes;
    stop();
}

told meet_warp(std::uint64_t mine, unsigned mask, const char* name) {
    block& b = now();
    warp& w = b.warps[b.self / warp_lanes];
    const unsigned lane = b.self % warp_lanes, generation = w.generation % 2, bit = 1u << lane;
    if ((w.alive & ~mask) != 0) fail("the mask leaves out lanes that run", name);
    if (w.met == 0) w.name = name;
    else if (w.name != name && std::strcmp(w.name, name) != 0)
        fail("lanes of a warp meet at different functions", name, w.name);
    w.said[generation][lane] = mine;
    w.met |= bit;
    release_warp(w);
    stop();
    return {w.said[generation], w.present[generation], static_cast<int>(lane)};
}

counted meet_block(bool mine, const char* name) {
    block& b = now();
    warp& w = b.warps[b.self / warp_lanes];
    if (b.met == 0) b.name = name;
    else if (b.name != name && std::strcmp(b.name, name) != 0)
        fail("threads of a block meet at different functions", name, b.name);
    w.at_barrier |= 1u << b.self % warp_lanes;
    ++b.met, b.yes += mine ? 1 : 0;
    release_block();
    stop();
    return b.last;
}

void run_grid(dim3 blocks, dim3 threads, std::size_t shared_bytes, unsigned cluster_blocks,
              const std::function<void()>& body) {
    const std::lock_guard<std::mutex> alone(running);
    if (threads.x * threads.y * threads.z > most_threads || shared_bytes > most_shared || cluster_blocks > most_blocks)
        fail("a block is too large", "threads or shared memory");
    if (blocks.x % cluster_blocks != 0) fail("blocks do not fill", "clusters");
    gridDim = blocks, blockDim = threads;
    thread_indices.clear();
    for (unsigned z = 0; z < threads.z; ++z)
        for (unsigned y = 0; y < threads.y; ++y)
            for (unsigned x = 0; x < threads.x; ++x) thread_indices.push_back({x, y, z});
    all.blocks.resize(cluster_blocks);
    run_block(0);
    all.shared_bytes = (shared_bytes + 15) / 16 * 16;
    for (block& b : all.blocks) b.body = &body;
    dynamic_memory.resize(all.shared_bytes * cluster_blocks);
    dynamic_memory.shrink_to_fit();
    for (unsigned z = 0; z < blocks.z; ++z)
        for (unsigned y = 0; y < blocks.y; ++y)
            for (unsigned x = 0; x < blocks.x; x += cluster_blocks) {
                for (unsigned i = 0; i < cluster_blocks; ++i) all.blocks[i].index = {x + i, y, z};
                // Unwritten memory has negative numbers in one block, then large ones, then zeros, which win a minimum.
                constexpr unsigned char unwritten[] = {0xa5, 0x5a, 0};
                std::fill(dynamic_memory.begin(), dynamic_memory.end(), std::byte{unwritten[x / cluster_blocks % 3]});
                run_cluster();
            }
}

}  // namespace on_cpu
