// SPDX-License-Identifier: Apache-2.0
// Groups and partitions that lists of ports of smd.toml name, and that are not there.
#include "config/port_references.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/config/support.h"

namespace smd::config {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::string_view kDisks = "[[group]]\nname = \"disks\"\nmembers = [\"io*\"]\n";

std::vector<std::string> references_refused(const std::string& text) {
  std::vector<std::string> lines;
  const auto config = load_text(text, "smd.toml", {}, context_with({}));
  if (config) return lines;
  for (const auto& error : config.error()) lines.push_back(to_string(error));
  return lines;
}

std::vector<std::string> reference_warnings(const std::string& text) {
  std::vector<std::string> lines;
  const auto config = load_text(text, "smd.toml", {}, context_with({}));
  if (!config) return references_refused(text);
  for (const auto& warning : config->warnings) lines.push_back(to_string(warning));
  return lines;
}

TEST(PortReferences, AMissingGroupIsNamedWithTheKeyAndTheLineOfTheMember) {
  EXPECT_THAT(
      references_refused(fmt::format(
          "{}[[partition]]\nname = \"a\"\nlimited = [\"ALL\"]\nfull = [\"h0\",\n\"group:disk\"]\n", kDisks)),
      ElementsAre("smd.toml:8: partition[0].full[1]: there is no group \"disk\"; did you mean \"disks\"?"));
  EXPECT_THAT(references_refused("[[partition]]\nname = \"a\"\n"
                                 "members = [{ports = [\"h0\"]},\n{ports = [\"group:b\"]}]\n"),
              ElementsAre("smd.toml:4: partition[0].members[1].ports[0]: there is no group \"b\"; no groups "
                          "are defined"));
  EXPECT_THAT(references_refused(
                  fmt::format("{}[[group]]\nname = \"b\"\nmembers = [\"h0\", \"group:nope\"]\n", kDisks)),
              ElementsAre("smd.toml:6: group[1].members[1]: there is no group \"nope\"; groups are "
                          "\"disks\", \"b\""));
  EXPECT_THAT(references_refused("[[subnet]]\nname = \"one\"\nport_guid = \"0x1\"\n[[subnet.partition]]\n"
                                 "name = \"a\"\n\nfull = [\"group:b\"]\n"),
              ElementsAre("smd.toml:7: subnet[0].partition[0].full[0]: there is no group \"b\"; no groups "
                          "are defined"));
}

TEST(PortReferences, APartitionIsNoMemberOfAnotherOne) {
  EXPECT_THAT(references_refused("[[partition]]\nname = \"a\"\n\nboth = [\"partition:b\"]\n"),
              ElementsAre("smd.toml:4: partition[0].both[0]: members of a partition cannot be those of "
                          "another one: use a group"));
}

TEST(PortReferences, APartitionThatNoFileDefinesMayBeOfTheApi) {
  const auto of_group = [](std::string_view partition) {
    return reference_warnings(
        fmt::format("[[partition]]\nname = \"blue\"\npkey = 0x12\n[[group]]\nname = \"g\"\n"
                    "members = [\"h0\",\n\"partition:{}\"]\n",
                    partition));
  };

  EXPECT_THAT(of_group("blu"),
              ElementsAre("smd.toml:7: group[0].members[1]: no file defines the partition \"blu\"; did you "
                          "mean \"blue\"?"));
  for (const auto* there : {"blue", "0x8012", "0x12", "Default"}) EXPECT_THAT(of_group(there), IsEmpty());
  EXPECT_THAT(reference_warnings("[qos]\nenabled = true\n[[qos.ports]]\nports = [\"partition:x\"]\n"
                                 "high_limit = 1\n"),
              ElementsAre("smd.toml:4: qos.ports[0].ports[0]: no file defines the partition \"x\""));
}

}  // namespace
}  // namespace smd::config
