// SPDX-License-Identifier: Apache-2.0
#include "mad/sim/attach/path.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mad/sim/attach/connection.h"
#include "mad/sim/attach/real.h"
#include "mad/sim/attach/tree.h"

namespace smd::sim::attach {
namespace {

char here[sizeof(Path::text)];

// A child of vfork has a folder of its own, but our memory.
char here_of_child[sizeof(Path::text)];
int child = 0;

// Where the process really is while it believes to be in a folder of ours.
constexpr const char* kMarker = "/sys";

/// The folder of a value "PID:FOLDER" that is meant for this process, or of "FOLDER"; else null.
const char* folder_of_value(const char* value) {
  if (value == nullptr || value[0] == '/') return value;
  char* end = nullptr;
  const long process = strtol(value, &end, 10);
  return process == getpid() && *end == ':' ? end + 1 : nullptr;
}

bool begins(const char* text, const char* prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

}  // namespace

Path::Path(int folder, const char* path) : real_folder(folder), real(path) {
  text[0] = 0;
  if (path == nullptr || !attached()) return;
  if (path[0] != '/') {
    char base[sizeof(text)];
    if (path[0] == 0) return;
    if (folder == AT_FDCWD) {
      if (present_folder()[0] == 0) return;
      strcpy(base, present_folder());
    } else if (!folder_of(folder, base, sizeof(base))) {
      return;
    }
    if (!append(base)) return;
    real = text;
    real_folder = AT_FDCWD;
  }
  if (!append(path)) {
    real_folder = folder;
    real = path;
    return;
  }
  if (length == 0) text[length++] = '/';
  text[length] = 0;
  device = strcmp(text, "/dev/infiniband") == 0 || begins(text, "/dev/infiniband/");
  ours = device || begins(text, "/sys/class/infiniband");
}

/// Each name of it, with a slash before; false: too long.
bool Path::append(const char* part) {
  while (*part != 0) {
    const size_t size = strcspn(part, "/");
    if (size == 2 && part[0] == '.' && part[1] == '.') {
      while (length != 0) {
        --length;
        if (text[length] == '/') break;
      }
    } else if (size != 0 && !(size == 1 && part[0] == '.')) {
      if (length + size + 2 > sizeof(text)) return false;
      text[length++] = '/';
      memcpy(text + length, part, size);
      length += size;
    }
    part += size;
    while (*part == '/') ++part;
  }
  return true;
}

int change_folder(const Path& path) {
  const auto type = type_of(path);
  if (type == Type::none) return fail(ENOENT);
  if (type != Type::folder) return fail(ENOTDIR);
  if (syscall(SYS_chdir, kMarker) != 0) return -1;
  if (shares_memory()) {
    strcpy(here_of_child, path.text);
    child = getpid();
    return 0;
  }
  strcpy(here, path.text);
  return setenv(kFolderVariable, here, 1);
}

void leave_folder() {
  if (shares_memory()) {
    here_of_child[0] = 0;
    child = getpid();
    return;
  }
  if (here[0] == 0) return;
  here[0] = 0;
  unsetenv(kFolderVariable);
}

const char* present_folder() { return shares_memory() && child == getpid() ? here_of_child : here; }

void find_present_folder() {
  char real[sizeof(here)];
  if (syscall(SYS_getcwd, real, sizeof(real)) < 0 || strcmp(real, kMarker) != 0) return;
  // What exec was told is true; else shells keep PWD so, and what stands in the variable may be older.
  const char* value = getenv(kFolderVariable);
  const char* told[] = {folder_of_value(value), getenv("PWD")};
  if (value != nullptr && value[0] == '/') {
    told[0] = told[1];
    told[1] = value;
  }
  for (const char* folder : told) {
    const Path path(folder);
    if (!path.ours || type_of(path) != Type::folder) continue;
    strcpy(here, path.text);
    return;
  }
}

}  // namespace smd::sim::attach
