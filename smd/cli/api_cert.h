// SPDX-License-Identifier: Apache-2.0
#pragma once
// `smd api cert`: a certificate for the API where there is no CA.

#include <iosfwd>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace smd::cli {

struct ApiCertOptions {
  bool self_signed = false, force = false;
  std::vector<std::string> names;  ///< empty: those of this machine
  std::string cert, key;           ///< empty: as the configuration says
  std::string config;
  int days = 825;
};

/// The subcommand `api cert`, which fills in `options`; the caller keeps both.
const CLI::App* add_api_command(CLI::App& app, ApiCertOptions& options);

/// Writes certificate and key. The exit status: 0, 1 it cannot be done, 2 wrong use.
int api_cert(const ApiCertOptions& options, std::ostream& out, std::ostream& err);

}  // namespace smd::cli
