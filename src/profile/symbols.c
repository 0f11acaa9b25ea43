/* Reading symbol tables: see symbols.h. */
#include "profile/symbols.h"

#include "base/io.h"
#include "base/vec.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef FP_VEC(struct fp_symbol) symbol_list;

static void read_table(struct fp_arena *arena, Elf *elf, Elf_Scn *section, const GElf_Shdr *header,
                       symbol_list *list)
{
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? header->sh_size / header->sh_entsize : 0;
    const char *file = NULL; /* local symbols follow the name of their file */
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol)) continue;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        unsigned type = GELF_ST_TYPE(symbol.st_info);
        if (name && type == STT_FILE) file = fp_arena_strdup(arena, name);
        if (!name || type != STT_FUNC || symbol.st_shndx == SHN_UNDEF) continue;
        bool local = GELF_ST_BIND(symbol.st_info) == STB_LOCAL;
        struct fp_symbol found = {symbol.st_value, fp_arena_strdup(arena, name),
                                  local ? file : NULL};
        fp_vec_push(arena, list, found);
    }
}

static void read_tables(struct fp_arena *arena, Elf *elf, symbol_list *list)
{
    Elf_Scn *section = NULL;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
            read_table(arena, elf, section, &header, list);
    }
}

static int by_address(const void *a, const void *b)
{
    const struct fp_symbol *x = a, *y = b;
    if (x->address != y->address) return x->address < y->address ? -1 : 1;
    return strcmp(x->name, y->name);
}

void fp_symbols_read(struct fp_arena *arena, const char *path, struct fp_symbols *symbols)
{
    symbol_list list = {0};
    elf_version(EV_CURRENT);
    struct fp_error ignored = {0};
    int fd = fp_open_regular(path, &ignored);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ_MMAP, NULL) : NULL;
    if (elf && elf_kind(elf) == ELF_K_ELF) read_tables(arena, elf, &list);
    if (elf) elf_end(elf);
    if (fd >= 0) close(fd);
    if (list.len) qsort(list.at, list.len, sizeof *list.at, by_address);
    *symbols = (struct fp_symbols){list.at, list.len};
}

void fp_symbols_prefer(struct fp_symbols *symbols, const struct fp_strtable *known)
{
    size_t first = 0;
    for (size_t i = 0; i < symbols->len; i++) {
        struct fp_symbol one = symbols->at[i];
        if (!i || one.address != symbols->at[i - 1].address) first = i;
        if (!fp_strtable_find(known, one.name)) continue;
        symbols->at[i] = symbols->at[first];
        symbols->at[first++] = one;
    }
}

const struct fp_symbol *fp_symbols_find(const struct fp_symbols *symbols, uint64_t address)
{
    size_t low = 0, high = symbols->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (symbols->at[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < symbols->len && symbols->at[low].address == address ? &symbols->at[low] : NULL;
}
