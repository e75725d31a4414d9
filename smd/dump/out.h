// SPDX-License-Identifier: Apache-2.0
#pragma once
// Text on its way to a file, in pieces: dumps of a large fabric have gigabytes and are never one string.

#include <fmt/format.h>

#include <functional>
#include <iterator>
#include <string_view>
#include <utility>

namespace smd::sm::inline dumps {

/// Collects text into pieces for a sink.
class Out {
 public:
  /// Takes a piece; false: no more is wanted (the disk is full).
  using Sink = std::function<bool(std::string_view)>;

  /// `sink` is called from the functions below; once it has returned false it is not called again.
  explicit Out(Sink sink) : sink_(std::move(sink)) {}
  Out(const Out&) = delete;
  Out& operator=(const Out&) = delete;

  /// Any bytes; the sink is called when a piece is full.
  void text(std::string_view text) {
    buffer_.append(text);
    if (buffer_.size() >= kPiece) flush();
  }
  /// As text(), formatted by fmt.
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(buffer_), format, std::forward<Args>(args)...);
    if (buffer_.size() >= kPiece) flush();
  }
  /// Hands the rest to the sink. False when the sink refused any piece.
  bool finish() {
    flush();
    return !stopped_;
  }
  /// The sink refused a piece: what is written from now on is lost, so do not compute it.
  bool stopped() const { return stopped_; }

 private:
  static constexpr std::size_t kPiece = std::size_t{256} * 1024;

  void flush() {
    if (!stopped_ && buffer_.size() > 0) stopped_ = !sink_({buffer_.data(), buffer_.size()});
    buffer_.clear();
  }

  Sink sink_;
  fmt::memory_buffer buffer_;
  bool stopped_ = false;
};

}  // namespace smd::sm::inline dumps
