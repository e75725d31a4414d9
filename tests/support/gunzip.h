// SPDX-License-Identifier: Apache-2.0
#pragma once
// What gzip has made, as text again.

#include <boost/beast/zlib/inflate_stream.hpp>
#include <boost/crc.hpp>
#include <cstdint>
#include <string>

namespace smd::test {

/// Empty where it is not what gzip makes, or is not whole.
inline std::string gunzip(const std::string& bytes) {
  namespace zlib = boost::beast::zlib;
  constexpr std::size_t kHeader = 10, kEnd = 8;
  if (bytes.size() < kHeader + kEnd || !bytes.starts_with("\x1f\x8b\x08")) return {};
  zlib::inflate_stream inflate;
  zlib::z_params stream;
  stream.next_in = bytes.data() + kHeader;
  stream.avail_in = bytes.size() - kHeader;  // with the end: Beast reads ahead of the last code
  std::string text;
  boost::system::error_code error;
  do {
    const auto used = text.size();
    text.resize(used + 65'536);
    stream.next_out = text.data() + used;
    stream.avail_out = 65'536;
    inflate.write(stream, zlib::Flush::sync, error);
    text.resize(used + 65'536 - stream.avail_out);
  } while (!error);
  const auto number = [&](std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 4; i-- > 0;) value = value << 8U | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  boost::crc_32_type crc;
  crc.process_bytes(text.data(), text.size());
  const bool whole = error == zlib::error::end_of_stream && number(bytes.size() - 8) == crc.checksum() &&
                     number(bytes.size() - 4) == static_cast<std::uint32_t>(text.size());
  return whole ? text : std::string();
}

}  // namespace smd::test
