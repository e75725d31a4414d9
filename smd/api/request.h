// SPDX-License-Identifier: Apache-2.0
#pragma once
// A question and its answer, without HTTP's bytes.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "smd/report/json.h"

namespace smd::api {

struct Request {
  std::string method;  ///< "GET"
  std::string target;  ///< path and query as they came
  std::string body;
};

/// Files of a folder of our own, which goes with it.
class Bundle {
 public:
  /// Sizes are read now; names that are no files of the folder are left out.
  Bundle(std::filesystem::path folder, std::vector<std::string> files);
  Bundle(const Bundle&) = delete;
  Bundle& operator=(const Bundle&) = delete;
  ~Bundle();

  struct File {
    std::string name;
    std::filesystem::path path;
    std::uint64_t size = 0;
  };
  const std::vector<File>& files() const { return files_; }

 private:
  std::filesystem::path folder_;
  std::vector<File> files_;
};

struct Answer {
  unsigned status = 200;
  std::string body;                      ///< JSON, unless there is a bundle
  std::shared_ptr<const Bundle> bundle;  ///< sent as a tar stream instead
  std::string allow;                     ///< of status 405: the methods that there are
};

/// As one line with a newline at its end.
Answer answer_of(const sm::Json& json, unsigned status = 200);
/// A body {"error": {"code": ..., "message": ...}} with this HTTP status.
Answer error_of(unsigned status, std::string_view code, std::string_view message);

/// Status 400: what is wrong with the body of the request.
Answer bad_body(std::string_view message);

}  // namespace smd::api
