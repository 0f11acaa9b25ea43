/* An object file with one string: see cc_out.h. It is written by hand, since the link may
 * be of bitcode, of another language, or with flags that no extra source would survive. */
#include "cc_out.h"

#include "footpath/abi.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { NONE, TEXT, STACK, SYMBOLS, STRINGS, NAMES, NSECTIONS };

static const char names[] = "\0.rodata.footpath_out\0.note.GNU-stack\0.symtab\0.strtab\0.shstrtab";
static const char strings[] = "\0" FP_OUT_SYMBOL;

struct object {
    Elf64_Ehdr head;
    Elf64_Shdr sections[NSECTIONS];
    Elf64_Sym symbols[2];
    char strings[sizeof strings];
    char names[sizeof names];
};

/* Where a section's name is in `names`: the n-th one. */
static Elf64_Word name_of(int n)
{
    const char *at = names;
    while (n--) at += strlen(at) + 1;
    return (Elf64_Word)(at - names);
}

static Elf64_Shdr section(int n, Elf64_Word type, size_t offset, size_t size)
{
    return (Elf64_Shdr){.sh_name = name_of(n),
                        .sh_type = type,
                        .sh_offset = offset,
                        .sh_size = size,
                        .sh_addralign = 1};
}

static void fill(struct object *o, size_t len)
{
    static const unsigned char ident[EI_NIDENT] = {ELFMAG0,    ELFMAG1,     ELFMAG2,   ELFMAG3,
                                                   ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
    *o = (struct object){.head = {.e_type = ET_REL,
                                  .e_machine = EM_X86_64,
                                  .e_version = EV_CURRENT,
                                  .e_shoff = offsetof(struct object, sections),
                                  .e_ehsize = sizeof o->head,
                                  .e_shentsize = sizeof *o->sections,
                                  .e_shnum = NSECTIONS,
                                  .e_shstrndx = NAMES},
                         .symbols[1] = {.st_name = 1,
                                        .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT),
                                        .st_other = STV_HIDDEN,
                                        .st_shndx = TEXT,
                                        .st_size = len}};
    memcpy(o->head.e_ident, ident, sizeof ident);
    memcpy(o->strings, strings, sizeof strings);
    memcpy(o->names, names, sizeof names);
    o->sections[TEXT] = section(TEXT, SHT_PROGBITS, sizeof *o, len);
    o->sections[TEXT].sh_flags = SHF_ALLOC;
    o->sections[STACK] = section(STACK, SHT_PROGBITS, sizeof *o, 0);
    o->sections[SYMBOLS] =
        section(SYMBOLS, SHT_SYMTAB, offsetof(struct object, symbols), sizeof o->symbols);
    o->sections[SYMBOLS].sh_link = STRINGS;
    o->sections[SYMBOLS].sh_info = 1; /* the first that is not local */
    o->sections[SYMBOLS].sh_addralign = 8;
    o->sections[SYMBOLS].sh_entsize = sizeof *o->symbols;
    o->sections[STRINGS] =
        section(STRINGS, SHT_STRTAB, offsetof(struct object, strings), sizeof strings);
    o->sections[NAMES] = section(NAMES, SHT_STRTAB, offsetof(struct object, names), sizeof names);
}

char *cc_out_object(struct fp_arena *arena, const char *pattern)
{
    struct object object;
    size_t len = strlen(pattern) + 1;
    fill(&object, len);
    int fd = memfd_create("footpath-out.o", 0); /* open in what we execute */
    if (fd < 0) return NULL;
    if (write(fd, &object, sizeof object) != sizeof object ||
        write(fd, pattern, len) != (ssize_t)len)
        return NULL;
    char *name = fp_arena_printf(arena, "/proc/self/fd/%d", fd);
    return access(name, R_OK) == 0 ? name : NULL;
}
