// SPDX-License-Identifier: Apache-2.0
#pragma once
// gzip (RFC 1952), piece by piece.

#include <memory>
#include <string>
#include <string_view>

namespace smd::api {

/// Whether Accept-Encoding takes it.
bool takes_gzip(std::string_view accept_encoding);

class Gzip {
 public:
  Gzip();
  Gzip(const Gzip&) = delete;
  Gzip& operator=(const Gzip&) = delete;
  ~Gzip();

  /// What is ready of the stream once `text` follows; `last`: all of it. May be empty before the last.
  std::string add(std::string_view text, bool last);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace smd::api
