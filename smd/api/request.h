// SPDX-License-Identifier: Apache-2.0
#pragma once
// A question and its answer, without HTTP's bytes.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "smd/api/peer.h"
#include "smd/report/json.h"

namespace smd::api {

struct Request {
  std::string method;  ///< "GET"
  std::string target;  ///< path and query as they came
  std::string body;
  std::string authorization{};  ///< the header of that name; empty: none
  Peer peer{};
  std::int64_t time = 0;  ///< seconds since 1970
  std::string accept{};   ///< the header of that name, as the ones that follow
  std::string last_event_id{};
  std::string if_match{}, if_none_match{};
  std::string idempotency_key{};
  std::string accept_encoding{};
  /// Of a standby's client with an If-Match: the disabled ports of the state that has been compared
  /// (ports_tag_of()).
  std::string ports_tag{};
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

/// An answer without an end, in pieces. One call at a time, from a thread of Compute.
class Stream {
 public:
  Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  virtual ~Stream() = default;

  /// What follows now, perhaps with more behind it; empty: nothing at present. Nothing: it is over.
  /// `now`: seconds since 1970. `quiet`: nothing was sent for a while, the client is to see that it is alive.
  virtual std::optional<std::string> next(std::int64_t now, bool quiet) = 0;
};

struct Answer;
using AnswerDone = std::move_only_function<void(Answer)>;
/// Begins what another SM answers; `done` is called once, on any thread, not within this call.
using Later = std::function<void(AnswerDone done)>;

/// A header: what the SM is whose word an answer is, "master" or "standby".
inline constexpr std::string_view kRoleHeader = "X-SMD-Role";

struct Answer {
  unsigned status = 200;
  std::string body;                                            ///< of `type`, unless there is a bundle
  std::shared_ptr<const Bundle> bundle;                        ///< sent as a tar stream instead
  std::string allow;                                           ///< of status 405: the methods that there are
  std::string type{};                                          ///< of the body; empty: JSON
  std::vector<std::pair<std::string, std::string>> headers{};  ///< beside those that all answers have
  std::shared_ptr<Stream> stream{};                            ///< sent after the body, until it ends
  std::shared_ptr<Stream> rest{};        ///< of a body too long for one piece; no piece of it is empty
  std::shared_ptr<const Later> later{};  ///< the answer comes from there instead
};

/// Whether Accept or Accept-Encoding names this item, whatever it prefers; a weight of 0 refuses it. Items
/// like "text/*" name none.
bool accepts(std::string_view list, std::string_view item);

/// As one line with a newline at its end.
Answer answer_of(const sm::Json& json, unsigned status = 200);
/// The type of errors (RFC 9457).
inline constexpr std::string_view kProblem = "application/problem+json";
/// A body with `type`, `title`, `status`, `detail`, `code`, and {"error": {"code": ..., "message": ...}} for
/// clients of before.
Answer error_of(unsigned status, std::string_view code, std::string_view message);

/// Status 503: whether the caller's token is good is known when each store is open. Names no subnet, for the
/// caller may be a stranger.
Answer tokens_not_read();

/// Status 400: what is wrong with the body of the request.
Answer bad_body(std::string_view message);

}  // namespace smd::api
