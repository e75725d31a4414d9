// SPDX-License-Identifier: Apache-2.0
// As wrap.cpp: the functions that start a program, which is told the folder that it is in.
#include <alloca.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mad/sim/attach/path.h"
#include "mad/sim/attach/real.h"
#include "mad/sim/attach/wrap.h"

namespace smd::sim::attach {
namespace {

using Strings = char* const*;

Real<int(const char*, Strings, Strings)> real_execvpe("execvpe");

size_t length_of(Strings strings) {
  size_t length = 0;
  while (strings != nullptr && strings[length] != nullptr) ++length;
  return length;
}

/// What the variable is to be, in `text`; empty: it is not needed.
void tell_folder(char* text, size_t size) {
  const char* folder = present_folder();
  text[0] = 0;
  if (folder[0] != 0) snprintf(text, size, "%s=%d:%s", kFolderVariable, getpid(), folder);
}

/// Of `environment` all but the variable, then `told`. There is room for two more.
void copy_environment(Strings environment, char* told, char** to) {
  const size_t name = strlen(kFolderVariable);
  for (size_t i = 0, all = length_of(environment); i < all; ++i) {
    const bool older = strncmp(environment[i], kFolderVariable, name) == 0 && environment[i][name] == '=';
    if (!older) *to++ = environment[i];
  }
  if (told[0] != 0) *to++ = told;
  *to = nullptr;
}

}  // namespace

// On the stack: a child of vfork may not allocate.
#define SMD_TOLD(environment)                                                              \
  char told[sizeof(Path::text) + 64];                                                      \
  tell_folder(told, sizeof(told));                                                         \
  auto** with = static_cast<char**>(alloca((length_of(environment) + 2) * sizeof(char*))); \
  copy_environment(environment, told, with);

SMD_WRAP(int, execve, (const char* file, Strings arguments, Strings environment)) {
  SMD_TOLD(environment)
  return static_cast<int>(syscall(SYS_execve, file, arguments, with));
}
SMD_WRAP(int, execv, (const char* file, Strings arguments)) {
  return wrapped_execve(file, arguments, environ);
}
SMD_WRAP(int, execvpe, (const char* file, Strings arguments, Strings environment)) {
  SMD_TOLD(environment)
  return real_execvpe(file, arguments, with);
}
SMD_WRAP(int, execvp, (const char* file, Strings arguments)) {
  return wrapped_execvpe(file, arguments, environ);
}

}  // namespace smd::sim::attach
