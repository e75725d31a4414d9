// SPDX-License-Identifier: Apache-2.0
#include "smd/api/pieces.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

namespace smd::api {
namespace {

/// Smaller than those of listings: each client that does not read keeps two copies of one.
constexpr std::size_t kPieceOfText = std::size_t{64} * 1024;

class TextInPieces final : public Stream {
 public:
  explicit TextInPieces(MoreText more) : more_(std::move(more)) {}

  std::optional<std::string> next(std::int64_t, bool) override {
    std::string piece;
    while (!ended_ && piece.size() < kPieceOfText) ended_ = !more_(piece);
    if (piece.empty()) return std::nullopt;
    return piece;
  }
  bool ended() const { return ended_; }

 private:
  MoreText more_;
  bool ended_ = false;
};

}  // namespace

Answer answer_in_pieces(MoreText more) {
  auto text = std::make_shared<TextInPieces>(std::move(more));
  Answer answer{
      .status = 200, .body = text->next(0, false).value_or(std::string()), .bundle = nullptr, .allow = {}};
  if (!text->ended()) answer.rest = std::move(text);
  return answer;
}

}  // namespace smd::api
