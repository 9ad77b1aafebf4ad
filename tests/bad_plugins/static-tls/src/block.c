/* What an allocator written in C does, only larger: a block for each thread at a fixed distance from the thread's
   pointer. The system must find room for it beside the blocks that were there when the process started. */

static __thread volatile char block[16384];

__attribute__((constructor, used)) static void touch(void) { block[0] = 1; }
