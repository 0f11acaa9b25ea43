/* Opens the profile: which files are written to, and which are refused.
 *
 * A profile is a regular file. A link is followed, step by step, if it belongs to the user
 * or to root. A file of another user is refused in a folder where others may put files: one
 * that everybody may write to, or one that belongs neither to the user nor to root. A
 * privileged program (rt_settings.c) follows no link and writes only to files of its own. The
 * folder of the profile is created where it is missing, but not the folders above it, nor one
 * in the root.
 * docs/security.md is the version for users.
 *
 * Not handled: access control lists; only owners and mode bits are looked at.
 */
#include "core/rt_call.h"
#include "core/rt_file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { PROC_FILES = 0x9fa0, MOST_LINKS = 8, LONGEST = 4096 };

/* The folder of a name, into `folder`. */
void rt_folder_of(struct rt_text *folder, const char *name)
{
    const char *slash = strrchr(name, '/');
    if (!slash) rt_text_add(folder, ".");
    if (slash == name) rt_text_add(folder, "/");
    for (const char *at = name; slash && at < slash; at++) rt_text_add_char(folder, *at);
}

static RT_SELDOM bool may_be_of_others(const char *name)
{
    char path[LONGEST];
    struct rt_text folder = {path, 0, sizeof path};
    struct stat info;
    path[0] = 0;
    rt_folder_of(&folder, name);
    if (stat(path, &info) < 0) return true;
    return info.st_mode & S_IWOTH || (info.st_uid != 0 && info.st_uid != geteuid());
}

const char *rt_why_not(const char *name, const struct stat *info)
{
    if (!S_ISREG(info->st_mode)) return "is not a regular file";
    if (rt_settings.privileged && info->st_nlink > 1) return "has several names";
    if (info->st_uid == rt_settings.user || info->st_uid == geteuid()) return NULL;
    return rt_settings.privileged || may_be_of_others(name) ? "belongs to another user" : NULL;
}

bool rt_is_null(const struct stat *info)
{
    return S_ISCHR(info->st_mode) && info->st_rdev == makedev(1, 3);
}

/* Reads where a link leads. Returns NULL, or why the link is not followed. Links in /proc
 * lead to files that the program has open, such as its output. */
static const char *link_target(int link, char *target, size_t size)
{
    struct stat info;
    struct statfs files;
    if (fstat(link, &info) < 0 || fstatfs(link, &files) < 0) return "is a link that cannot be read";
    if (files.f_type == PROC_FILES) return "is not a file of its own";
    if (info.st_uid != 0 && info.st_uid != geteuid()) return "is a link of another user";
    ssize_t len = readlinkat(link, "", target, size - 1);
    if (len <= 0) return "is a link that cannot be read";
    target[len] = 0;
    return NULL;
}

static RT_SELDOM const char *follow(struct rt_text *name)
{
    char path[LONGEST], target[LONGEST];
    struct rt_text folder = {path, 0, sizeof path};
    if (rt_settings.privileged) return "is a link";
    int link = open(name->at, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (link < 0) return "is a link that cannot be read";
    const char *problem = link_target(link, target, sizeof target);
    close(link);
    if (problem) return problem;
    path[0] = 0;
    rt_folder_of(&folder, name->at);
    name->len = 0;
    if (target[0] != '/') {
        rt_text_add(name, path);
        rt_text_add_char(name, '/');
    }
    rt_text_add(name, target);
    return NULL;
}

int rt_create(const char *name, int how)
{
    return rt_open(name, how | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                   rt_settings.privileged ? 0600 : 0666);
}

/* Creates the folder of the profile where that alone is missing. A name with more folders
 * missing is taken for a mistake, and so is one that needs a folder in the root. */
static RT_SELDOM bool make_folder(const char *name)
{
    char path[LONGEST];
    struct rt_text folder = {path, 0, sizeof path};
    path[0] = 0;
    rt_folder_of(&folder, name);
    bool in_root = path[0] == '/' && !strchr(path + 1, '/');
    return !rt_settings.privileged && !in_root && (mkdir(path, 0777) == 0 || errno == EEXIST);
}

int rt_create_with_folder(const char *name, int how)
{
    int fd = rt_create(name, how);
    return fd < 0 && errno == ENOENT && make_folder(name) ? rt_create(name, how) : fd;
}

const char *rt_follow_links(struct rt_text *name)
{
    char one;
    const char *problem = NULL;
    for (int links = 0; !problem && rt_readlink(name->at, &one, 1) > 0; links++)
        problem = links < MOST_LINKS ? follow(name) : "leads from link to link";
    return problem;
}

int rt_open_followed(struct rt_text *name, bool *created, const char **problem)
{
    *problem = NULL;
    *created = false;
    for (int links = 0, tries = 0; links < MOST_LINKS && tries < 1000; tries++) {
        int fd = rt_open(name->at, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0);
        if (fd < 0 && errno == ENOENT) {
            fd = rt_create_with_folder(name->at, O_RDWR);
            *created = fd >= 0;
        }
        if (fd < 0 && errno == EEXIST) continue; /* made by another meanwhile */
        if (fd >= 0 || errno != ELOOP) return fd;
        *problem = follow(name);
        if (*problem) return -1;
        links++;
    }
    *problem = "leads from link to link";
    return -1;
}
