// SPDX-License-Identifier: Apache-2.0
#include "smd/api/tar.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

namespace smd::api {
namespace {

struct Unpacked {
  std::map<std::string, std::string> whole;
  std::string name;
  std::string bytes;

  TarReader reader() {
    return TarReader({.begin = [this](const std::string& file) -> std::expected<void, std::string> {
                        name = file;
                        bytes.clear();
                        return {};
                      },
                      .bytes = [this](std::string_view piece) -> std::expected<void, std::string> {
                        bytes += piece;
                        return {};
                      },
                      .end = [this]() -> std::expected<void, std::string> {
                        whole[name] = bytes;
                        return {};
                      }});
  }
};

std::string packed(const std::map<std::string, std::string>& files) {
  std::string out;
  for (const auto& [name, bytes] : files) {
    const auto header = tar_header(name, bytes.size());
    out.append(header.data(), header.size());
    out += bytes;
    out.append(tar_padding(bytes.size()), '\0');
  }
  return out + std::string(kTarEnd, '\0');
}

const std::map<std::string, std::string> kFiles{
    {"empty", ""}, {"block", std::string(512, 'b')}, {"long", std::string(1300, 'x')}, {"short", "s"}};

TEST(Tar, WhatIsPackedIsUnpackedWhateverThePieces) {
  const auto stream = packed(kFiles);
  for (const std::size_t piece : {1U, 7U, 511U, 512U, 513U, 100'000U}) {
    Unpacked unpacked;
    auto reader = unpacked.reader();
    for (std::size_t at = 0; at < stream.size(); at += piece)
      ASSERT_TRUE(reader.take(std::string_view(stream).substr(at, piece)));
    EXPECT_TRUE(reader.finish());
    EXPECT_EQ(unpacked.whole, kFiles) << piece;
  }
}

TEST(Tar, AStreamThatEndsEarlyIsNoticed) {
  const auto stream = packed(kFiles);
  Unpacked unpacked;
  auto reader = unpacked.reader();
  ASSERT_TRUE(reader.take(std::string_view(stream).substr(0, stream.size() / 2)));

  EXPECT_FALSE(reader.finish());
}

TEST(Tar, WhatIsNoTarIsRefused) {
  Unpacked unpacked;
  auto reader = unpacked.reader();

  EXPECT_FALSE(reader.take(std::string(512, 'x')));
}

TEST(Tar, SizesBeyondEightGigabytesAreWrittenInBinary) {
  const auto header = tar_header("big", 10'000'000'000U);
  std::uint64_t seen = 0;
  TarReader reader({.begin = [](const std::string&) -> std::expected<void, std::string> { return {}; },
                    .bytes = [&](std::string_view piece) -> std::expected<void, std::string> {
                      seen += piece.size();
                      return {};
                    },
                    .end = []() -> std::expected<void, std::string> { return {}; }});
  ASSERT_TRUE(reader.take({header.data(), header.size()}));
  ASSERT_TRUE(reader.take(std::string(5000, 'x')));

  EXPECT_EQ(seen, 5000U);
  EXPECT_FALSE(reader.finish());
}

}  // namespace
}  // namespace smd::api
