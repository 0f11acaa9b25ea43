/* What is in profiles and programs, as text or JSON: `footpath info`.
 *
 *     struct fp_info info = {.json = as_json};
 *     fp_info_begin(&info);
 *     fp_info_list(&info, "programs"); fp_info_program(...); ... fp_info_list_end(&info);
 *     fp_info_profile(&info, profile);
 *     fp_info_end(&info);              the text is in info.out
 */
#ifndef FP_REPORT_INFO_H
#define FP_REPORT_INFO_H

#include "combined/combined.h"
#include "profile/profile.h"
#include "report/json.h"

struct fp_info {
    struct fp_writer out;
    struct fp_json j;
    bool json;
};

void fp_info_begin(struct fp_info *info);
void fp_info_end(struct fp_info *info);

/* Around programs, and around combined profiles: a list of that name in JSON. */
void fp_info_list(struct fp_info *info, const char *name);
void fp_info_list_end(struct fp_info *info);

void fp_info_program(struct fp_info *info, const char *path, const struct fp_program *program);
void fp_info_combined(struct fp_info *info, const char *path, const struct fp_combined *combined);
/* Modules and runs. */
void fp_info_profile(struct fp_info *info, const struct fp_profile *profile);

#endif
