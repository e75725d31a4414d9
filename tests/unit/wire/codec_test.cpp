// SPDX-License-Identifier: Apache-2.0
#include "mad/wire/codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <set>

#include "mad/base/random.h"
#include "mad/wire/print.h"
#include "mad/wire/random.h"
#include "tests/support/attributes.h"

namespace smd::wire {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

template <Layout A>
std::vector<std::uint8_t> bytes_of(const A& attribute) {
  std::vector<std::uint8_t> bytes(A::kBytes, 0xAA);
  encode(attribute, bytes);
  return bytes;
}

/// One bit for each that a field covers.
template <Layout A>
std::vector<std::uint8_t> covered() {
  std::vector<std::uint8_t> mask(A::kBytes);
  for_each_field<A>([&](const auto& row) {
    for (std::size_t i = 0; i < row.place.count; ++i) {
      for (std::size_t bit = row.place.first + i * row.place.stride, end = bit + row.place.width; bit < end;
           ++bit) {
        mask[bit / 8] = static_cast<std::uint8_t>(mask[bit / 8] | (0x80U >> (bit % 8)));
      }
    }
  });
  return mask;
}

template <class A>
class EachLayout : public ::testing::Test {};
TYPED_TEST_SUITE(EachLayout, EveryLayout, LayoutName);

TYPED_TEST(EachLayout, DecodingWhatWasEncodedGivesTheSame) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    base::Random generator(seed);
    const auto attribute = random<TypeParam>(generator);
    RC_ASSERT(decode<TypeParam>(bytes_of(attribute)) == attribute);
  }));
}

TYPED_TEST(EachLayout, EncodingWhatWasDecodedKeepsTheBitsOfTheTableAndClearsAllOthers) {
  EXPECT_TRUE(rc::check([] {
    auto bytes =
        *rc::gen::container<std::vector<std::uint8_t>>(TypeParam::kBytes, rc::gen::arbitrary<std::uint8_t>());
    const auto encoded_again = bytes_of(*decode<TypeParam>(bytes));
    const auto mask = covered<TypeParam>();
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(bytes[i] & mask[i]);
    if constexpr (std::is_same_v<TypeParam, NodeDescription>) {
      std::fill(std::ranges::find(bytes, 0), bytes.end(), std::uint8_t{0});  // text ends at a NUL
    }
    RC_ASSERT(encoded_again == bytes);
  }));
}

TYPED_TEST(EachLayout, EncodingOverBytesLeavesTheBitsBetweenTheFields) {
  base::Random generator(1);
  const auto attribute = random<TypeParam>(generator);
  std::vector<std::uint8_t> over(TypeParam::kBytes, 0xFF);
  const auto mask = covered<TypeParam>();

  encode_over(attribute, over);

  const auto plain = bytes_of(attribute);
  for (std::size_t i = 0; i < over.size(); ++i) {
    EXPECT_EQ(over[i], plain[i] | static_cast<std::uint8_t>(~mask[i])) << "byte " << i;
  }
}

TYPED_TEST(EachLayout, TooFewBytesGiveNothingAndMoreAreNotRead) {
  base::Random generator(2);
  const auto attribute = random<TypeParam>(generator);
  auto bytes = bytes_of(attribute);
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_EQ(decode<TypeParam>(std::span(bytes).first(length)), std::nullopt);
  }
  bytes.resize(bytes.size() + 100, 0xFF);
  EXPECT_EQ(decode<TypeParam>(bytes), attribute);
}

TYPED_TEST(EachLayout, AChangedFieldIsNamedAndNoOther) {
  base::Random generator(3);
  const auto one = random<TypeParam>(generator);
  EXPECT_THAT(differences(one, one), IsEmpty());
  for_each_field<TypeParam>([&](const auto& row) {
    auto other = one;
    if constexpr (kIsText<std::remove_cvref_t<decltype(row)>>) {
      (other.*row.member) += "x";
    } else {
      using Value = typename std::remove_cvref_t<decltype(row)>::Value;
      const std::size_t last = row.place.count - 1;
      row.set(other, last, from_number<Value>(to_number(row.get(one, last)) ^ 1U));
    }
    EXPECT_THAT(differences(one, other), ElementsAre(row.name));
    EXPECT_NE(one, other);
  });
}

TYPED_TEST(EachLayout, NamesAreUniqueAndAllArePrinted) {
  base::Random generator(4);
  const auto text = print(random<TypeParam>(generator));
  std::set<std::string_view> names;
  for_each_field<TypeParam>([&](const auto& row) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_NE(text.find(std::string(row.name) + "="), std::string::npos) << row.name << " in " << text;
  });
  EXPECT_EQ(std::ranges::count_if(text, [](char c) { return c == '\n' || c == '\0'; }), 0);
}

TYPED_TEST(EachLayout, TheSameSeedGivesTheSameValue) {
  base::Random one(5), other(5);
  EXPECT_EQ(random<TypeParam>(one), random<TypeParam>(other));
}

TEST(NodeDescription, EndsAtTheFirstNulOrAfter64Bytes) {
  std::vector<std::uint8_t> bytes(64, 'a');
  EXPECT_EQ(decode<NodeDescription>(bytes)->text, std::string(64, 'a'));
  bytes[5] = 0;
  EXPECT_EQ(decode<NodeDescription>(bytes)->text, "aaaaa");
  EXPECT_EQ(encoded(NodeDescription{std::string(100, 'b')}), encoded(NodeDescription{std::string(64, 'b')}));
}

TEST(Codec, IsUsableInConstantExpressions) {
  constexpr auto kBytes = encoded(LinkStateDetails{.lid = Lid{0x1234}});
  static_assert(kBytes[0] == 0x12 && kBytes[1] == 0x34);
  static_assert(decode<LinkStateDetails>(kBytes)->lid == Lid{0x1234});
}

TEST(Bits, AnyPhaseAndWidthReadsWhatWasWrittenAndLeavesTheRest) {
  base::Random generator(6);
  const auto check = [&]<std::size_t Phase, std::size_t Width>() {
    std::array<std::uint8_t, 10> bytes{}, before{};
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(generator());
    before = bytes;
    const auto number = generator() & low_bits(Width);
    store<Phase, Width>(bytes.data(), number);
    EXPECT_EQ((load<Phase, Width>(bytes.data())), number);
    for (std::size_t bit = 0; bit < 80; ++bit) {
      const auto at = [&](const auto& from) { return from[bit / 8] >> (7 - bit % 8) & 1; };
      const bool inside = bit >= Phase && bit < Phase + Width;
      EXPECT_EQ(at(bytes), inside ? number >> (Phase + Width - 1 - bit) & 1 : at(before))
          << Phase << ' ' << Width;
    }
  };
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    (check.template operator()<I % 8, (I * 7) % (64 - I % 8) + 1>(), ...);
  }(std::make_index_sequence<256>{});
}

// Tables that well_formed must refuse.
struct Overlapping {
  static constexpr std::size_t kBytes = 2;
  std::uint8_t a = 0, b = 0;
  static constexpr auto fields() {
    return std::tuple{field("A", &Overlapping::a, 0, 8), field("B", &Overlapping::b, 7, 4)};
  }
};
struct Outside {
  static constexpr std::size_t kBytes = 1;
  std::uint16_t a = 0;
  static constexpr auto fields() { return std::tuple{field("A", &Outside::a, 0, 16)}; }
};
struct TooNarrow {
  static constexpr std::size_t kBytes = 2;
  std::uint8_t a = 0;
  static constexpr auto fields() { return std::tuple{field("A", &TooNarrow::a, 0, 9)}; }
};
struct WideBool {
  static constexpr std::size_t kBytes = 1;
  bool a = false;
  static constexpr auto fields() { return std::tuple{field("A", &WideBool::a, 0, 2)}; }
};
struct ArrayOutside {
  static constexpr std::size_t kBytes = 4;
  std::array<std::uint8_t, 5> a{};
  static constexpr auto fields() { return std::tuple{array_field("A", &ArrayOutside::a, 0, 8)}; }
};
static_assert(!well_formed<Overlapping>());
static_assert(!well_formed<Outside>());
static_assert(!well_formed<TooNarrow>());
static_assert(!well_formed<WideBool>());
static_assert(!well_formed<ArrayOutside>());

}  // namespace
}  // namespace smd::wire
