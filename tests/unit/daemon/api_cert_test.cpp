// SPDX-License-Identifier: Apache-2.0
#include "smd/cli/api_cert.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace smd::cli {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

class ApiCert : public testing::Test {
 protected:
  ApiCert() {
    std::string made = (std::filesystem::temp_directory_path() / "smd-cert-XXXXXX").string();
    folder_ = ::mkdtemp(made.data());
  }
  ~ApiCert() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return folder_ / name; }
  int make(const std::string& cert, const std::string& key, bool force = false,
           const std::string& name = "sm1") {
    std::ostringstream out, err;
    ApiCertOptions options;
    options.names = {name};
    options.cert = cert, options.key = key, options.force = force;
    options.config = file("none.toml");
    const int status = api_cert(options, out, err);
    said_ = out.str() + err.str();
    return status;
  }
  std::ptrdiff_t files() const {
    return std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator{});
  }
  std::string text(const std::string& name) const {
    std::ifstream in(file(name));
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::filesystem::path folder_;
  std::string said_;
};

TEST_F(ApiCert, BothFilesAreWrittenOrNone) {
  EXPECT_EQ(make(file("none/y.pem"), file("y.key")), 1);
  EXPECT_THAT(said_, HasSubstr("none/y.pem: No such file or directory"));
  EXPECT_EQ(files(), 0);
  EXPECT_EQ(make(file("y.pem"), file("none/y.key")), 1);
  EXPECT_EQ(files(), 0);

  EXPECT_EQ(make(file("y.pem"), file("y.key")), 0) << said_;
  EXPECT_EQ(files(), 2);
  EXPECT_THAT(text("y.pem"), StartsWith("-----BEGIN CERTIFICATE"));
  EXPECT_THAT(text("y.key"), StartsWith("-----BEGIN PRIVATE KEY"));
}

TEST_F(ApiCert, FilesThatAreThereStayWithoutForce) {
  std::ofstream(file("y.pem")) << "mine";

  EXPECT_EQ(make(file("y.pem"), file("y.key")), 1);
  EXPECT_THAT(said_, HasSubstr("y.pem: it is there already"));
  EXPECT_EQ(text("y.pem"), "mine");
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(make(file("y.pem"), file("y.key"), true), 0) << said_;
  EXPECT_THAT(text("y.pem"), StartsWith("-----BEGIN CERTIFICATE"));
}

TEST_F(ApiCert, TheKeyIsInNoFileOfTheCertificate) {
  EXPECT_EQ(make(file("one.pem"), file("one.pem")), 2);
  EXPECT_EQ(make(file("one.pem"), file("./one.pem"), true), 2);
  EXPECT_EQ(files(), 0);
}

TEST_F(ApiCert, AWrongAddressIsNoDnsName) {
  EXPECT_EQ(make(file("y.pem"), file("y.key"), false, "300.1.1.1"), 2);
  EXPECT_THAT(said_, HasSubstr("300.1.1.1: neither a DNS name nor an address"));
  EXPECT_EQ(make(file("y.pem"), file("y.key"), false, "10.0.0.1"), 0) << said_;
}

}  // namespace
}  // namespace smd::cli
