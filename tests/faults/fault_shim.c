/* Makes system calls fail on purpose, and simulates a power cut, for tests of durability.
 *
 * Build:  cc -shared -fPIC -O1 -o fault_shim.so fault_shim.c -ldl -lpthread
 * Use:    LD_PRELOAD=./fault_shim.so FAULT_RULES=... FAULT_DISK=... program
 *
 * FAULT_RULES  Rules separated by ';', each CALL:SUFFIX:SKIP:COUNT:ERRNO
 *     CALL    write, pwrite, fdatasync, fsync, sync (fdatasync or fsync), ftruncate, rename, link
 *             or spawn (pthread_create)
 *     SUFFIX  the end of the name of the file (of the new name for rename and link); empty for any.
 *             A spawn has no file: leave it empty.
 *     SKIP    how many matching calls succeed first
 *     COUNT   how many fail then; * for all
 *     ERRNO   EIO, ENOSPC, EROFS, EDQUOT, EAGAIN, EXDEV, EPERM, ENOTSUP, ENOENT or a number
 *     A call that a rule fails is not done. Matching calls are counted in each process by itself.
 *
 * FAULT_ARM    A path. Rules neither count nor fail anything until a file is there, so that a test
 *     can prepare a store first. Without it rules are armed from the start.
 *
 * FAULT_DISK   A folder that plays the disk, FAULT_DISK_SUFFIXES the ends of the names of the files
 *     that are kept there (default "-wal,.db"). For a file NAME the folder holds
 *         NAME         what would be found after a power cut
 *         NAME.dirty   a byte per page of 4096: 1 for a page written since it was last synced
 *     A sync that succeeds copies the dirty pages of the file to the disk. A sync that fails marks
 *     them clean without copying, as Linux does: the program goes on reading what it wrote, a later
 *     sync of the file succeeds, and the pages are not on the disk.
 *     To cut the power: kill the program, copy NAME from the folder over each file, remove -shm.
 *     Several processes may share the folder. Writes through mmap are not seen (SQLite maps only
 *     its -shm, which is not kept). A write that succeeds is taken to be on its way, never on disk.
 *
 * FAULT_FORGET Set to 1: a failed sync also puts the old content of the pages back into the file, as
 *     btrfs does, and as any file system may after the clean pages were evicted.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define PAGE 4096
#define MOST_PAGES (1 << 20) /* files of up to 4 GiB */
#define MOST_RULES 16
#define MOST_FILES 64

struct rule {
    char call[16], suffix[64];
    long skip, count, seen;
    int error;
};

struct disk {
    dev_t dev;
    ino_t ino;
    int fd;
    unsigned char *dirty;
};

static struct rule rules[MOST_RULES];
static int rule_count;
static struct disk disks[MOST_FILES];
static int disk_count;
static const char *arm_path, *disk_folder, *disk_suffixes;
static int forgets;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fdatasync)(int);
static int (*real_fsync)(int);
static int (*real_ftruncate)(int, off_t);
static int (*real_rename)(const char *, const char *);
static int (*real_link)(const char *, const char *);
static int (*real_linkat)(int, const char *, int, const char *, int);
static int (*real_pthread_create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

static int errno_of(const char *name) {
    static const struct { const char *name; int value; } known[] = {
        {"EIO", EIO}, {"ENOSPC", ENOSPC}, {"EROFS", EROFS}, {"EDQUOT", EDQUOT}, {"EAGAIN", EAGAIN},
        {"EXDEV", EXDEV}, {"EPERM", EPERM}, {"ENOTSUP", ENOTSUP}, {"ENOENT", ENOENT},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name)) return known[i].value;
    return atoi(name) ? atoi(name) : EIO;
}

static void read_rules(const char *text) {
    char *copy = strdup(text), *rest = copy, *one;
    while ((one = strsep(&rest, ";")) && rule_count < MOST_RULES) {
        char *call = strsep(&one, ":"), *suffix = strsep(&one, ":"), *skip = strsep(&one, ":");
        char *count = strsep(&one, ":");
        if (!call || !*call || !suffix || !skip || !count || !one) continue;
        struct rule *rule = &rules[rule_count++];
        snprintf(rule->call, sizeof rule->call, "%s", call);
        snprintf(rule->suffix, sizeof rule->suffix, "%s", suffix);
        rule->skip = atol(skip);
        rule->count = *count == '*' ? LONG_MAX : atol(count);
        rule->error = errno_of(one);
    }
    free(copy);
}

static void start(void) {
    real_write = dlsym(RTLD_NEXT, "write");
    real_pwrite = dlsym(RTLD_NEXT, "pwrite");
    real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
    real_fsync = dlsym(RTLD_NEXT, "fsync");
    real_ftruncate = dlsym(RTLD_NEXT, "ftruncate");
    real_rename = dlsym(RTLD_NEXT, "rename");
    real_link = dlsym(RTLD_NEXT, "link");
    real_linkat = dlsym(RTLD_NEXT, "linkat");
    real_pthread_create = dlsym(RTLD_NEXT, "pthread_create");
    arm_path = getenv("FAULT_ARM");
    disk_folder = getenv("FAULT_DISK");
    disk_suffixes = getenv("FAULT_DISK_SUFFIXES");
    if (!disk_suffixes) disk_suffixes = "-wal,.db";
    forgets = getenv("FAULT_FORGET") && !strcmp(getenv("FAULT_FORGET"), "1");
    if (getenv("FAULT_RULES")) read_rules(getenv("FAULT_RULES"));
}

static void ready(void) { pthread_once(&once, start); }

static int ends_with(const char *text, const char *end, size_t end_length) {
    size_t length = strlen(text);
    return length >= end_length && !memcmp(text + length - end_length, end, end_length);
}

static int name_of(int fd, char *path) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0) return 0;
    path[length] = 0;
    return 1;
}

/* The error this call must fail with, or 0. */
static int planned(const char *call, const char *path) {
    int error = 0;
    if (!rule_count || (arm_path && access(arm_path, F_OK))) return 0;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < rule_count && !error; i++) {
        struct rule *rule = &rules[i];
        int is_sync = !strcmp(rule->call, "sync") && strstr(call, "sync");
        if (!is_sync && strcmp(rule->call, call)) continue;
        if (!ends_with(path, rule->suffix, strlen(rule->suffix))) continue;
        long nth = rule->seen++;
        if (nth >= rule->skip && nth - rule->skip < rule->count) error = rule->error;
    }
    pthread_mutex_unlock(&lock);
    return error;
}

static int is_kept(const char *path) {
    const char *at = disk_suffixes;
    while (*at) {
        size_t length = strcspn(at, ",");
        if (length && ends_with(path, at, length)) return 1;
        at += length + (at[length] == ',');
    }
    return 0;
}

/* The disk behind a file, or NULL when none is kept. Called with the lock held. */
static struct disk *disk_of(int fd) {
    char path[PATH_MAX], name[PATH_MAX + 64];
    struct stat data;
    if (!disk_folder || fstat(fd, &data) || !S_ISREG(data.st_mode)) return NULL;
    for (int i = 0; i < disk_count; i++)
        if (disks[i].dev == data.st_dev && disks[i].ino == data.st_ino) return &disks[i];
    if (!name_of(fd, path) || !is_kept(path) || disk_count == MOST_FILES) return NULL;
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct disk *disk = &disks[disk_count];
    snprintf(name, sizeof name, "%s/%s", disk_folder, base);
    int is_new = access(name, F_OK) != 0;
    disk->fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    snprintf(name, sizeof name, "%s/%s.dirty", disk_folder, base);
    int map = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (disk->fd < 0 || map < 0 || real_ftruncate(map, MOST_PAGES)) return NULL;
    disk->dirty = mmap(NULL, MOST_PAGES, PROT_READ | PROT_WRITE, MAP_SHARED, map, 0);
    close(map);
    if (disk->dirty == MAP_FAILED) return NULL;
    /* What a file holds when it is first seen counts as written and not yet synced. */
    if (is_new) memset(disk->dirty, 1, (data.st_size + PAGE - 1) / PAGE);
    disk->dev = data.st_dev;
    disk->ino = data.st_ino;
    disk_count++;
    return disk;
}

static void mark(int fd, off_t from, size_t length) {
    if (!disk_folder || !length) return;
    pthread_mutex_lock(&lock);
    struct disk *disk = disk_of(fd);
    for (off_t page = from / PAGE; disk && page <= (off_t)(from + length - 1) / PAGE; page++)
        if (page < MOST_PAGES) disk->dirty[page] = 1;
    pthread_mutex_unlock(&lock);
}

/* Another descriptor of the same file. It stays open: closing it would drop the POSIX locks that the
 * program holds on the file. */
static int reopened(int fd, int how) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return open(path, how | O_CLOEXEC);
}

/* Copies a dirty page to the disk, or puts what the disk holds back into the file. */
static void settle_page(struct disk *disk, int fd, off_t at, size_t length, int is_forgotten) {
    char page[PAGE] = {0};
    if (is_forgotten) {
        if (pread(disk->fd, page, length, at) >= 0 && real_pwrite(fd, page, length, at) >= 0) return;
    } else {
        if (pread(fd, page, length, at) >= 0 && real_pwrite(disk->fd, page, length, at) >= 0) return;
    }
    perror("fault_shim: a page was not copied");
}

static void synced(int fd, int failed) {
    if (!disk_folder) return;
    pthread_mutex_lock(&lock);
    struct disk *disk = disk_of(fd);
    struct stat data;
    if (disk && !fstat(fd, &data)) {
        int mode = fcntl(fd, F_GETFL) & O_ACCMODE, other = fd;
        if (failed && forgets && mode == O_RDONLY) other = reopened(fd, O_WRONLY);
        if (!failed && mode == O_WRONLY) other = reopened(fd, O_RDONLY);
        for (off_t at = 0; at < data.st_size && at / PAGE < MOST_PAGES; at += PAGE) {
            if (!disk->dirty[at / PAGE]) continue;
            disk->dirty[at / PAGE] = 0;
            size_t length = data.st_size - at < PAGE ? data.st_size - at : PAGE;
            if (!failed || forgets) settle_page(disk, other, at, length, failed);
        }
        if (!failed && real_ftruncate(disk->fd, data.st_size)) perror("fault_shim");
    }
    pthread_mutex_unlock(&lock);
}

ssize_t write(int fd, const void *bytes, size_t length) {
    char path[PATH_MAX];
    ready();
    if (fd > 2 && (rule_count || disk_folder) && name_of(fd, path)) {
        int error = planned("write", path);
        if (error) return errno = error, -1;
        off_t at = disk_folder ? lseek(fd, 0, SEEK_CUR) : -1;
        ssize_t done = real_write(fd, bytes, length);
        int kept = errno;
        if (at >= 0 && done > 0) mark(fd, at, done);
        errno = kept;
        return done;
    }
    return real_write(fd, bytes, length);
}

ssize_t pwrite(int fd, const void *bytes, size_t length, off_t at) {
    char path[PATH_MAX];
    ready();
    if (rule_count && name_of(fd, path)) {
        int error = planned("pwrite", path);
        if (error) return errno = error, -1;
    }
    ssize_t done = real_pwrite(fd, bytes, length, at);
    int kept = errno;
    if (done > 0) mark(fd, at, done);
    errno = kept;
    return done;
}

ssize_t pwrite64(int fd, const void *bytes, size_t length, off64_t at) {
    return pwrite(fd, bytes, length, at);
}

static int sync_with(const char *call, int (*real)(int), int fd) {
    char path[PATH_MAX] = "";
    if (rule_count) name_of(fd, path);
    int error = planned(call, path);
    if (!error && real(fd)) return -1;
    synced(fd, error);
    return error ? (errno = error, -1) : 0;
}

int fdatasync(int fd) {
    ready();
    return sync_with("fdatasync", real_fdatasync, fd);
}

int fsync(int fd) {
    ready();
    return sync_with("fsync", real_fsync, fd);
}

int ftruncate(int fd, off_t length) {
    char path[PATH_MAX];
    ready();
    if (rule_count && name_of(fd, path)) {
        int error = planned("ftruncate", path);
        if (error) return errno = error, -1;
    }
    return real_ftruncate(fd, length);
}

int ftruncate64(int fd, off64_t length) { return ftruncate(fd, length); }

int rename(const char *from, const char *to) {
    ready();
    int error = planned("rename", to);
    return error ? (errno = error, -1) : real_rename(from, to);
}

int link(const char *from, const char *to) {
    ready();
    int error = planned("link", to);
    return error ? (errno = error, -1) : real_link(from, to);
}

int linkat(int from_fd, const char *from, int to_fd, const char *to, int flags) {
    ready();
    int error = planned("link", to);
    return error ? (errno = error, -1) : real_linkat(from_fd, from, to_fd, to, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *options, void *(*run)(void *),
                   void *with) {
    ready();
    int error = planned("spawn", "");
    return error ? error : real_pthread_create(thread, options, run, with);
}
