/* A heap whose addresses depend on the calls alone, not on the program's size: for
 * comparing two builds of a program that orders or hashes its data by address.
 * Preloaded. Sizes are rounded up to powers of two (with a few steps between) and
 * kept in a list each; nothing is given back to the system.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define HEAP_START ((char *)0x200000000000)
#define HEAP_SIZE ((size_t)1 << 38)
enum { CLASSES = 256, HEADER = 16 };

struct block {
    size_t class;
    struct block *next; /* where the user's bytes begin, while it is free */
};

static struct block *free_blocks[CLASSES];
static char *top;
static atomic_flag busy = ATOMIC_FLAG_INIT;

/* Four sizes per power of two, so that little is lost. */
static size_t class_size(size_t class)
{
    return ((class & 3) + 4) << (class / 4 + 3);
}

static size_t class_of(size_t size)
{
    size_t class = 0;
    while (class_size(class) < size) class++;
    return class;
}

static void lock(void)
{
    while (atomic_flag_test_and_set_explicit(&busy, memory_order_acquire)) {
    }
}

static void unlock(void)
{
    atomic_flag_clear_explicit(&busy, memory_order_release);
}

static char *grow(size_t size)
{
    if (!top) {
        void *heap = mmap(HEAP_START, HEAP_SIZE, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (heap != HEAP_START) abort();
        top = HEAP_START;
    }
    if (size > (size_t)(HEAP_START + HEAP_SIZE - top)) return NULL;
    char *at = top;
    top += size;
    return at;
}

void *malloc(size_t size)
{
    if (size > HEAP_SIZE / 4) return errno = ENOMEM, NULL;
    size_t class = class_of(size);
    lock();
    struct block *block = free_blocks[class];
    if (block)
        free_blocks[class] = block->next;
    else
        block = (struct block *)grow(HEADER + ((class_size(class) + 15) & ~(size_t)15));
    unlock();
    if (!block) return errno = ENOMEM, NULL;
    block->class = class;
    return (char *)block + HEADER;
}

/* An aligned block's bytes lie inside a larger one: the word before them says where. */
static struct block *block_of(void *pointer)
{
    struct block *block = (struct block *)((char *)pointer - HEADER);
    if (block->class < CLASSES) return block;
    return (struct block *)(block->class - HEADER);
}

void free(void *pointer)
{
    if (!pointer) return;
    struct block *block = block_of(pointer);
    lock();
    /* the list's link lies in the header, so that aligned blocks keep theirs */
    block->next = free_blocks[block->class];
    free_blocks[block->class] = block;
    unlock();
}

void *calloc(size_t count, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) return errno = ENOMEM, NULL;
    void *pointer = malloc(total);
    return pointer ? memset(pointer, 0, total) : NULL;
}

void *realloc(void *old, size_t size)
{
    if (!old) return malloc(size);
    struct block *block = block_of(old);
    size_t room = class_size(block->class) - (size_t)((char *)old - HEADER - (char *)block);
    if (size <= room) return old;
    void *pointer = malloc(size);
    if (!pointer) return NULL;
    memcpy(pointer, old, room);
    free(old);
    return pointer;
}

void *memalign(size_t alignment, size_t size)
{
    char *pointer = malloc(size + alignment + HEADER);
    if (!pointer || !((uintptr_t)pointer & (alignment - 1))) return pointer;
    char *aligned = (char *)(((uintptr_t)pointer + alignment + HEADER - 1) & ~(uintptr_t)(alignment - 1));
    ((struct block *)(aligned - HEADER))->class = (size_t)pointer;
    return aligned;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return memalign(alignment, size);
}

int posix_memalign(void **pointer, size_t alignment, size_t size)
{
    *pointer = memalign(alignment, size);
    return *pointer ? 0 : ENOMEM;
}

size_t malloc_usable_size(void *pointer)
{
    if (!pointer) return 0;
    struct block *block = block_of(pointer);
    return class_size(block->class) - (size_t)((char *)pointer - HEADER - (char *)block);
}
