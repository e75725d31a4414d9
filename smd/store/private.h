// SPDX-License-Identifier: Apache-2.0
#pragma once
// The state of a subnet holds keys of services and names of hosts: its folder and files are the owner's
// alone, whatever the umask.

#include <filesystem>
#include <system_error>

namespace smd::store {

/// Makes what is missing of the path, with mode 0700. A folder that is there already stays as it is: it may
/// belong to another user.
std::error_code make_private_directories(const std::filesystem::path& path);

/// Gives an existing file mode 0600; one that is not there is made where `make` says so. Files of other users
/// stay as they are. What goes wrong is found when the file is opened.
void make_private_file(const std::filesystem::path& path, bool make);

}  // namespace smd::store
