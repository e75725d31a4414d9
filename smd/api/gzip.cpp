// SPDX-License-Identifier: Apache-2.0
#include "smd/api/gzip.h"

#include <array>
#include <boost/beast/zlib/deflate_stream.hpp>
#include <boost/crc.hpp>
#include <cstdint>

#include "smd/api/request.h"

namespace smd::api {
namespace {

namespace zlib = boost::beast::zlib;

/// Fast rather than small: names repeat so much that either is a tenth of the text.
constexpr int kLevel = 1;
constexpr std::size_t kRoom = std::size_t{64} * 1024;

void append_number(std::string& out, std::uint32_t value) {
  for (unsigned i = 0; i < 4; ++i) out += static_cast<char>(value >> (8 * i) & 0xffU);
}

}  // namespace

struct Gzip::State {
  zlib::deflate_stream deflate;
  boost::crc_32_type crc;
  std::uint32_t size = 0;  ///< modulo 2^32
  bool begun = false;
};

Gzip::Gzip() : state_(std::make_unique<State>()) {
  state_->deflate.reset(kLevel, 15, 8, zlib::Strategy::normal);
}
Gzip::~Gzip() = default;

std::string Gzip::add(std::string_view text, bool last) {
  std::string out;
  if (!std::exchange(state_->begun, true)) {
    // Deflate, no name, no time, made by an unknown system.
    constexpr std::array<unsigned char, 10> kHeader{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff};
    out.assign(kHeader.begin(), kHeader.end());
  }
  state_->crc.process_bytes(text.data(), text.size());
  state_->size += static_cast<std::uint32_t>(text.size());
  zlib::z_params stream;
  stream.next_in = text.data();
  stream.avail_in = text.size();
  for (;;) {
    const auto used = out.size();
    out.resize(used + kRoom);
    stream.next_out = out.data() + used;
    stream.avail_out = kRoom;
    boost::system::error_code error;
    state_->deflate.write(stream, last ? zlib::Flush::finish : zlib::Flush::none, error);
    out.resize(used + kRoom - stream.avail_out);
    const bool full = stream.avail_out == 0;
    if (error || (!full && stream.avail_in == 0)) break;  // also the end of the stream is an error of it
  }
  if (last) {
    append_number(out, state_->crc.checksum());
    append_number(out, state_->size);
  }
  return out;
}

bool takes_gzip(std::string_view accept_encoding) {
  return accepts(accept_encoding, "gzip") || accepts(accept_encoding, "x-gzip");
}

}  // namespace smd::api
