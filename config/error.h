// SPDX-License-Identifier: Apache-2.0
#pragma once
// An error of a configuration or a policy file: position, what was found, what is allowed.

#include <string>

namespace smd::config {

struct ConfigError {
  std::string file{};      ///< as the operator named it; "--set" for an override
  unsigned line = 0;       ///< from 1; 0 where the whole file is meant
  std::string key{};       ///< "routing.engines[0]"; empty where no key is meant
  std::string found{};     ///< as the operator wrote it; empty where `expected` says it all
  std::string expected{};  ///< what is allowed, or the whole text
  std::string hint{};      ///< what to do; may be empty
  bool old_name = false;   ///< a warning: the key has another name now
  friend bool operator==(const ConfigError&, const ConfigError&) = default;
};

/// One line, "file:line: key: got ..., expected ...; hint"; parts that are empty are left out.
std::string to_string(const ConfigError& error);

}  // namespace smd::config
