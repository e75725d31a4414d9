// SPDX-License-Identifier: Apache-2.0
// Takes whole subnet managers through a fabric's life in virtual time and writes all that they put out into a
// folder: what tests/house/same_output.sh compares between two builds.
//
//   same_output [seed=N] [guids=N] [cut=N] [lose=N] [ports=N] [set=KEY=VALUE]… [retrain] [loss] [payloads]
//   FABRIC FOLDER
//
// All that it knows of the manager is in class Life; the rest knows bytes, commands of the simulator and
// base::Fabric.
#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mad/base/fabric_file.h"
#include "mad/sim/console/control.h"
#include "mad/sim/drivers/world.h"
#include "smd/daemon/configuration.h"
#include "smd/dump/dumps.h"
#include "smd/store/store.h"
#include "tests/house/same_output/client.h"
#include "tests/house/same_output/fabric.h"
#include "tests/house/same_output/faults.h"
#include "tests/house/same_output/record.h"
#include "tests/support/managed_world.h"
#include "tests/support/served.h"

namespace smd::test::same_output {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

/// Raise it when the phases or the written files change: builds with different versions are not compared.
constexpr int kVersion = 1;

struct Options {
  FabricOptions fabric;
  std::vector<std::string> settings;  ///< as for --set
  bool retrain = false;               ///< links come up anew with a lower speed
  bool loss = false;                  ///< packets are lost for a second: one SMP more or less changes which
  bool payloads = false;
  fs::path folder;
};

class Life {
 public:
  explicit Life(const Options& options)
      : options_(options),
        fabric_(make(options.fabric)),
        hosts_(joined_hosts(fabric_)),
        world_(fabric_, world_options(options.fabric.seed)),
        record_(world_, fabric_, options.payloads) {
    fs::create_directories(options.folder);
    write_file(options.folder / "fabric.net", base::write_fabric(fabric_));
    write_without();
  }

  void run() {
    start();
    end_phase("1-cold");
    sweep("heavy");
    sweep("light");
    end_phase("2-again");
    if (hosts_.size() > 1) clients();
    end_phase("3-clients");
    faults();
    end_phase("4-faults");
    if (options_.retrain) {
      retrain();
      end_phase("5-retraining");
    }
    converge();
    end_phase("6-other-engine");
    if (hosts_.size() > 1) takeover();
    start();
    world_.run_for(20s);
    end_phase("8-restart");
    stop();
    record_.write(options_.folder);
    write_file(options_.folder / "sweeps", sweeps_);
  }

 private:
  static sim::Options world_options(std::uint64_t seed) {
    auto options = sim::World::default_options();
    options.seed = seed;
    options.training = {.shortest = 1ms, .longest = 40ms};
    return options;
  }
  config::SubnetConfig config(const std::vector<std::string>& more = {}) const {
    auto all = options_.settings;
    all.insert(all.end(), more.begin(), more.end());
    auto loaded = daemon::load_configuration("", all);
    if (!loaded) throw std::runtime_error(loaded.error().text);
    return loaded->subnets.front();
  }
  sim::Place place(const End& end) const {
    return {fmt::format("{:#018x}", fabric_.nodes[end.node].guid.value()),
            PortNum{static_cast<std::uint8_t>(end.port)}};
  }

  // The manager with its subnet administration on the first host (the first switch, where there is none).
  void start() {
    served_ = std::make_unique<Served>(world_, &store_, sa::settings_of(config()), config());
    lines_ = nullptr;
  }
  void stop() { served_.reset(); }
  void sweep(std::string_view kind) {
    served_->manager().requests().resweep(kind == "heavy" ? sm::Resweep::heavy : sm::Resweep::light,
                                          "same_output");
    world_.run_for(2s);
  }

  void end_phase(const std::string& phase) { end_phase(phase, served_->last(), served_->lines()); }
  /// Its dumps, and its lines about sweeps without times of the processor.
  void end_phase(const std::string& phase, const sm::Snapshot& snapshot, const Lines& lines) {
    record_.take(phase);
    sweeps_of(phase, lines);
    if (!snapshot.subnet || !snapshot.decided.lids) return;
    sm::DumpList all;
    for (const auto& format : sm::dump_formats()) all.push_back(&format);
    const sm::DumpView view(*snapshot.subnet, snapshot.decided, {}, sm::Marks::not_written);
    const auto written = sm::write_dumps(options_.folder / phase, all, view, routing::Serial());
    if (!written) throw std::runtime_error(written.error());
  }
  void sweeps_of(const std::string& phase, const Lines& lines) {
    if (lines_ != &lines) lines_read_ = 0;
    lines_ = &lines;
    for (; lines_read_ < lines.all.size(); ++lines_read_) {
      std::string_view left = lines.all[lines_read_];
      const auto begin = left.find("sweep=");
      if (begin == std::string_view::npos || left.find(" smps_get=") == std::string_view::npos) continue;
      left.remove_prefix(begin);
      sweeps_ += phase;
      while (!left.empty()) {
        const auto word = left.substr(0, left.find(' '));
        left.remove_prefix(std::min(left.size(), word.size() + 1));
        if (word.find("_ms=") == std::string_view::npos) sweeps_ += fmt::format(" {}", word);
      }
      sweeps_ += '\n';
    }
  }

  void clients() {
    std::vector<std::unique_ptr<Client>> clients;
    const auto address = served_->address();
    const auto others = hosts_.size() - 1;  // the first one is the manager's
    const auto count = std::min<std::size_t>(others, 6);
    for (std::size_t i = 0; i < count; ++i) {
      clients.push_back(std::make_unique<Client>(world_, place(hosts_[1 + i * others / count]), address));
    }
    register_with(clients);
    const auto& asker = *clients.back();
    for (const auto& other : clients) {
      send(*clients.back(),
           Request(kGet, 0x35, 1U << 2U | 1U << 3U).with(8, other->gid()).with(24, asker.gid()));
    }
    send(*clients.back(),
         Request(kGetTable, 0x35, 1U << 3U | 1U << 12U).with(24, asker.gid()).with(49, 0x7F, 1));
    for (const auto table : kTables) send(*clients.back(), Request(kGetTable, table));
    world_.run_for(2s);
    // One that was there leaves, another one comes back.
    send(*clients[0], membership(kDelete, *clients[0], kGroup, 1));
    send(*clients.back(), membership(kDelete, *clients.back(), kBroadcast, 1));
    send(*clients.back(), membership(kSet, *clients.back(), kBroadcast, 1));
    world_.run_for(2s);
    record_.take("3-clients");
  }
  void register_with(const std::vector<std::unique_ptr<Client>>& clients) {
    Request subscribe(kSet, 0x03);
    subscribe.with(16, 0xFFFF, 2)
        .with(22, 0x0101, 2)
        .with(24, 0xFFFF'FFFF, 4)
        .with(30, 1, 1)
        .with(33, 0xFFFFFF, 3);
    send(*clients.front(), subscribe);
    for (const auto& client : clients) send(*client, membership(kSet, *client, kBroadcast, 1));
    send(*clients.front(), membership(kSet, *clients.front(), kGroup, 1, true));
    for (const auto& client : clients) send(*client, membership(kSet, *client, kGroup, 1));
    send(*clients.back(), membership(kSet, *clients.back(), "::", 1, true));
    send(*clients.back(), membership(kSet, *clients.back(), kOther, 4, true));
    Request service(kSet, 0x31, 1U << 0U | 1U << 1U | 1U << 2U | 1U << 4U | 1U << 6U);
    const std::array<std::uint8_t, 4> name{'s', 'a', 'm', 'e'};
    service.with(0, 0x1000'0000'0000'0001, 8).with(8, clients.back()->gid()).with(24, 0xFFFF, 2);
    send(*clients.back(), service.with(28, 3600, 4).with(48, name));
    Request alias(kSet, 0x30, 1U << 0U | 1U << 1U | 1U << 5U);
    alias.with(0, clients.back()->lid(), 2).with(2, 0, 1).with(16, 0x0200'0000'0000'0077, 8);
    send(*clients.back(), alias);
  }
  void send(Client& client, const Request& request) {
    client.send(request);
    world_.run_for(20ms);
  }

  void faults() {
    const auto now = world_.now();
    for (const auto& fault : Faults(fabric_, options_.fabric.seed, options_.loss).all()) {
      world_.at(now + fault.at, [this, command = fault.command](sim::Fabric& fabric) {
        if (const auto done = sim::control(fabric, command); !done)
          sweeps_ += command + ": " + done.error() + '\n';
      });
    }
    world_.run_for(Faults::kEnd + 25s);
    sweep("heavy");
  }
  void retrain() {
    served_->manager().requests().reload(config({"links.speed=qdr"}));
    world_.run_for(60s);
  }
  void converge() {
    served_->manager().requests().resweep(sm::Resweep::converge, "same_output");
    world_.run_for(10s);
    served_->manager().requests().reload(config({"routing.engines=updn"}));
    world_.run_for(10s);
  }
  /// A standby on the last host sees the master end.
  void takeover() {
    Managed standby(world_, place(hosts_.back()), config());
    mad::TaskGroup group(world_.io().get_executor());
    group.spawn(standby->run());
    world_.run_for(4s);
    end_phase("7-takeover");
    stop();
    world_.run_for(20s);
    end_phase("7-takeover", standby.last(), standby.lines());
    world_.run(group.stop());
    record_.take("7-takeover");
  }

  /// For smd route --without: some cables and a switch.
  void write_without() const {
    Random random(options_.fabric.seed + 1);
    std::string text;
    const auto cables = switch_cables(fabric_);
    for (unsigned i = 0; i < 3 && !cables.empty(); ++i) {
      const auto& end = cables[random.below(cables.size())];
      text += fmt::format("link {:#018x} {}\n", fabric_.nodes[end.node].guid.value(), end.port);
    }
    const auto all = switches(fabric_);
    if (all.size() > 3) text += fmt::format("node {:#018x}\n", fabric_.nodes[all.back()].guid.value());
    write_file(options_.folder / "without", text);
  }

  static constexpr std::string_view kBroadcast = "ff12:401b:ffff::ffff:ffff", kGroup = "ff12:401b:ffff::1",
                                    kOther = "ff12:401b:ffff::2";
  const Options& options_;
  base::Fabric fabric_;
  std::vector<End> hosts_;
  sim::World world_;
  Record record_;
  store::MemoryStore store_;
  std::unique_ptr<Served> served_;
  std::string sweeps_;
  const Lines* lines_ = nullptr;
  std::size_t lines_read_ = 0;
};

std::uint64_t number(std::string_view word, std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    throw std::runtime_error(fmt::format("{}: not a number", word));
  return value;
}

Options parse(std::span<const std::string_view> words) {
  if (words.size() < 2) throw std::runtime_error("FABRIC and FOLDER are missing");
  Options options;
  options.fabric.fabric = words[words.size() - 2];
  options.folder = words.back();
  for (const auto word : words.first(words.size() - 2)) {
    const auto key = word.substr(0, word.find('=')),
               value = word.substr(std::min(word.size(), key.size() + 1));
    const auto count = [&] { return static_cast<unsigned>(number(word, value)); };
    if (key == "seed") {
      options.fabric.seed = number(word, value);
    } else if (key == "guids") {
      options.fabric.guids = number(word, value);
    } else if (key == "cut") {
      options.fabric.cut = count();
    } else if (key == "lose") {
      options.fabric.lose = count();
    } else if (key == "ports") {
      options.fabric.ports = count();
    } else if (key == "set") {
      options.settings.emplace_back(value);
    } else if (word == "retrain") {
      options.retrain = true;
    } else if (word == "loss") {
      options.loss = true;
    } else if (word == "payloads") {
      options.payloads = true;
    } else {
      throw std::runtime_error(fmt::format("{}: not known", word));
    }
  }
  return options;
}

}  // namespace
}  // namespace smd::test::same_output

int main(int count, char** arguments) {
  namespace same_output = smd::test::same_output;
  const std::vector<std::string_view> words(arguments + 1, arguments + count);
  if (words == std::vector<std::string_view>{"--version"}) {
    std::printf("%d\n", same_output::kVersion);
    return 0;
  }
  try {
    const auto options = same_output::parse(words);
    same_output::Life(options).run();
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "same_output: %s\n", error.what());
    return 2;
  }
}
