/* Reading of LSDAs: see lsda.h. */
#include "binary/lsda.h"

#include "binary/ehpointer.h"

#include <stdlib.h>

struct lsda_reader {
    const struct fp_object *object;
    struct fp_lsda *lsda;
    struct fp_eh_reader in;
    uint64_t start;
    int64_t lowest; /* filter that actions name */
    struct fp_error *error;
};

static bool bad_lsda(const struct lsda_reader *r, const char *what)
{
    return fp_fail(r->error, r->object->path, "LSDA at 0x%llx: %s",
                   (unsigned long long)r->lsda->address, what);
}

static uint64_t sites_end(struct lsda_reader *r)
{
    struct fp_lsda *l = r->lsda;
    uint8_t encoding = fp_eh_byte(&r->in);
    l->explicit_start = encoding != FP_EH_OMIT;
    l->landing_start = l->explicit_start ? fp_eh_pointer(&r->in, encoding, 0) : r->start;
    l->type_encoding = fp_eh_byte(&r->in);
    if (l->type_encoding != FP_EH_OMIT) {
        uint64_t distance = fp_eh_uleb(&r->in);
        l->type_base = fp_eh_here(&r->in) + distance;
        l->type_size = fp_eh_pointer_size(l->type_encoding);
    }
    l->call_site_encoding = fp_eh_byte(&r->in);
    uint64_t size = fp_eh_uleb(&r->in);
    if (size > r->in.len - r->in.at) r->in.bad = true;
    return r->in.at + (r->in.bad ? 0 : size);
}

static bool read_sites(struct lsda_reader *r, struct fp_arena *arena)
{
    FP_VEC(struct fp_call_site) sites = {0};
    struct fp_lsda *l = r->lsda;
    uint64_t end = sites_end(r);
    if (l->call_site_encoding & 0xf0) return bad_lsda(r, "unknown encoding of call sites");
    while (!r->in.bad && r->in.at < end) {
        struct fp_call_site site;
        site.start = r->start + fp_eh_pointer(&r->in, l->call_site_encoding, 0);
        site.size = fp_eh_pointer(&r->in, l->call_site_encoding, 0);
        site.pad = fp_eh_pointer(&r->in, l->call_site_encoding, 0);
        if (site.pad) site.pad += l->landing_start;
        site.action = fp_eh_uleb(&r->in);
        bool ordered = !sites.len ||
                       site.start >= sites.at[sites.len - 1].start + sites.at[sites.len - 1].size;
        if (!ordered || site.start + site.size < site.start)
            return bad_lsda(r, "call sites overlap");
        fp_vec_push(arena, &sites, site);
    }
    if (r->in.bad || r->in.at != end) return bad_lsda(r, "the call sites end early");
    l->sites = sites.at;
    l->nsites = sites.len;
    l->actions = fp_eh_here(&r->in);
    return true;
}

/* Follows the chain of records that starts at an offset into the actions. */
static bool read_actions(struct lsda_reader *r, uint64_t offset)
{
    for (size_t steps = 0; steps < 65536; steps++) {
        struct fp_eh_reader in = r->in;
        fp_eh_skip(&in, offset);
        int64_t filter = fp_eh_sleb(&in);
        uint64_t next_at = in.at;
        int64_t next = fp_eh_sleb(&in);
        if (in.bad) return bad_lsda(r, "an action beyond the end");
        if (in.at - r->in.at > r->lsda->actions_size) r->lsda->actions_size = in.at - r->in.at;
        if (filter > 0 && (uint64_t)filter > r->lsda->ntypes) r->lsda->ntypes = (uint64_t)filter;
        if (filter < r->lowest) r->lowest = filter;
        if (!next) return true;
        offset = next_at + (uint64_t)next - r->in.at;
        if (offset > r->in.len) return bad_lsda(r, "an action beyond the end");
    }
    return bad_lsda(r, "a chain of actions without end");
}

/* The specifications, up to the end of the one that the lowest filter names: filter -k names the
 * one at byte k - 1. */
static bool read_specifications(struct lsda_reader *r)
{
    size_t len;
    if (!r->lowest) return true;
    const unsigned char *bytes = fp_object_bytes(r->object, r->lsda->type_base, &len);
    struct fp_eh_reader in = {.bytes = bytes, .len = bytes ? len : 0};
    uint64_t number, last = (uint64_t)-(r->lowest + 1);
    do {
        number = fp_eh_uleb(&in);
        if (number > r->lsda->ntypes) r->lsda->ntypes = number;
    } while (!in.bad && (number || in.at <= last));
    if (in.bad) return bad_lsda(r, "a specification beyond the end");
    r->lsda->specs_size = in.at;
    return true;
}

static bool check_types(struct lsda_reader *r)
{
    struct fp_lsda *l = r->lsda;
    size_t len;
    if (!l->ntypes) return true;
    if (!l->type_base || !l->type_size) return bad_lsda(r, "types without a table");
    uint64_t below = l->type_base - (l->actions + l->actions_size);
    if (l->type_base < l->actions + l->actions_size || l->ntypes > below / l->type_size)
        return bad_lsda(r, "a type beyond the table");
    return fp_object_bytes(r->object, l->type_base - 1, &len) ||
           bad_lsda(r, "a type table outside of the file");
}

bool fp_lsda_read(struct fp_arena *arena, const struct fp_object *object, uint64_t address,
                  uint64_t start, struct fp_lsda *lsda, struct fp_error *error)
{
    size_t len = 0;
    *lsda = (struct fp_lsda){.address = address};
    struct lsda_reader r = {.object = object, .lsda = lsda, .start = start, .error = error};
    const unsigned char *bytes = fp_object_bytes(object, address, &len);
    if (!bytes) return bad_lsda(&r, "outside of the file");
    r.in = (struct fp_eh_reader){.bytes = bytes, .len = len, .address = address};
    if (!read_sites(&r, arena)) return false;
    for (size_t i = 0; i < lsda->nsites; i++)
        if (lsda->sites[i].action && !read_actions(&r, lsda->sites[i].action - 1)) return false;
    return read_specifications(&r) && check_types(&r);
}

const struct fp_call_site *fp_lsda_site(const struct fp_lsda *lsda, uint64_t address)
{
    size_t low = 0, high = lsda->nsites;
    while (low < high) { /* the first one behind the address */
        size_t middle = low + (high - low) / 2;
        if (lsda->sites[middle].start <= address)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low) return NULL;
    const struct fp_call_site *site = &lsda->sites[low - 1];
    return address - site->start < site->size ? site : NULL;
}

uint64_t fp_lsda_type(const struct fp_object *object, const struct fp_lsda *lsda, uint64_t number)
{
    uint64_t address = lsda->type_base - number * lsda->type_size, word;
    size_t len;
    if (!number || number > lsda->ntypes) return 0;
    if (lsda->type_size == 8 && !(lsda->type_encoding & 0x70) &&
        fp_object_pointer(object, address, &word))
        return word;
    const unsigned char *bytes = fp_object_bytes(object, address, &len);
    if (!bytes) return 0;
    struct fp_eh_reader in = {.bytes = bytes, .len = len, .address = address};
    uint64_t type = fp_eh_pointer(&in, lsda->type_encoding, 0);
    return in.bad ? 0 : type;
}
