// SPDX-License-Identifier: Apache-2.0
// The keys of [sm], [mad], [sweep], [ha] and [lids].
#include <expected>
#include <memory>

#include "config/file_key.h"
#include "config/rows.h"
#include "config/scalars.h"
#include "mad/base/sl_files.h"

namespace smd::config {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

}  // namespace

std::vector<Key> sm_keys() {
  constexpr auto kSm = &SubnetConfig::sm;
  return {
      row({.table = "sm",
           .name = "priority",
           .opensm = "sm_priority",
           .doc =
               "Of several SMs the one with the highest priority is master, of equals the one with the "
               "lowest GUID. OpenSM's default is 0; UFM and the SMs of most switches have 15 or 14, and win "
               "against 0."},
          kSm, &SmConfig::priority, whole<std::uint8_t>(0, 15)),
      row({.table = "sm",
           .name = "master_priority",
           .opensm = "master_sm_priority",
           .doc =
               "The priority that this SM shows while it is master, `priority` or more. With more than the "
               "priority of the other SMs none of them takes the fabric back when it returns."},
          kSm, &SmConfig::master_priority,
          or_word(whole<std::uint8_t>(0, 15), "priority", "the same as `priority`")),
      row({.table = "sm",
           .name = "allowed_guids",
           .opensm = "allowed_sm_guids",
           .doc = "Port GUIDs of the SMs that belong here. Another one is named as unknown and never obeyed: "
                  "it gets no HANDOVER and may not send one. While it is master smd waits all the same, "
                  "unless `force` is true. Empty: all SMs are accepted."},
          kSm, &SmConfig::allowed_guids, explained(guids(), std::vector<Guid>(), "no SM is unknown")),
      row({.table = "sm",
           .name = "subnet_prefix",
           .opensm = "subnet_prefix",
           .doc = "The upper half of every GID of the subnet."},
          kSm, &SmConfig::subnet_prefix, hex64()),
      row({.table = "sm",
           .name = "force",
           .opensm = "ignore_other_sm",
           .doc =
               "Become master although another SM is: one that is not in allowed_guids, or any where that is "
               "empty. Two masters damage a fabric: for repairs only."},
          kSm, &SmConfig::force,
          flag("become master although an unknown SM is", "wait while another SM is master")),
      sm_key_file("sm", "key_file", "The old name of `sm_key_file` in [keys]."),
  };
}

std::vector<Key> mad_keys() {
  constexpr auto kMad = &SubnetConfig::mad;
  return {
      row({.table = "mad",
           .name = "max_outstanding",
           .opensm = "max_wire_smps",
           .doc = "Most management packets on the wire at once. On adapters at most 112: the kernel sends "
                  "128."},
          kMad, &MadConfig::max_outstanding, whole<std::uint32_t>(1, 384)),
      row({.table = "mad", .name = "per_node", .opensm = "", .doc = "Most of them to one node."}, kMad,
          &MadConfig::per_node, whole<std::uint32_t>(1, 384)),
      row({.table = "mad",
           .name = "timeout",
           .opensm = "transaction_timeout",
           .doc = "Time until a packet is sent again, as long as a node's own answer time is not known. A "
                  "node that has not answered timeout * (retries + 1) after the first try counts as silent, "
                  "also where more tries are made because many are lost."},
          kMad, &MadConfig::timeout, duration(milliseconds(1), seconds(60))),
      row({.table = "mad",
           .name = "retries",
           .opensm = "transaction_retries",
           .doc = "How often an unanswered packet is sent again before its node counts as silent."},
          kMad, &MadConfig::retries, whole<std::uint32_t>(0, 20)),
      row({.table = "mad",
           .name = "slow_timeout",
           .opensm = "",
           .doc = "Answers that come later still count: their node is slow, and its next packets are waited "
                  "for so long, if that is longer than timeout * (retries + 1)."},
          kMad, &MadConfig::slow_timeout, duration(milliseconds(1), seconds(60))),
  };
}

std::vector<Key> sweep_keys() {
  constexpr auto kSweep = &SubnetConfig::sweep;
  return {
      row({.table = "sweep",
           .name = "interval",
           .opensm = "sweep_interval",
           .doc = "Time between light sweeps, which find changes that no trap reported."},
          kSweep, &SweepConfig::interval, duration(milliseconds(100), hours(24), "no light sweeps")),
      row({.table = "sweep",
           .name = "settle",
           .opensm = "",
           .doc = "Changes that follow one another within this time are handled together."},
          kSweep, &SweepConfig::settle, duration(milliseconds(1), seconds(60), "each for itself")),
      row({.table = "sweep",
           .name = "on_trap",
           .opensm = "sweep_on_trap",
           .doc = "Sweep when a trap says that something changed."},
          kSweep, &SweepConfig::on_trap,
          flag("a trap that tells of a change starts a sweep", "traps start no sweep")),
  };
}

namespace {

using SharedPathSls = std::shared_ptr<const base::PathSlFile>;

std::expected<SharedPathSls, base::FileErrors> shared_path_sls(const std::string& bytes,
                                                               const std::string& path) {
  auto paths = base::read_path_sl(bytes, path);
  if (!paths) return std::unexpected(std::move(paths.error()));
  return std::make_shared<const base::PathSlFile>(*std::move(paths));
}

Key adopted_path_sls() {
  return file_key(
      {.table = "adopt",
       .name = "path_sl",
       .opensm = "",
       .doc = "A file of `smd import path-sl`: the SL that the SA before gave for each path. Where "
              "routing.path_sl is \"asked\" forwarding tables of another subnet manager are kept if they are "
              "proven free of credit loops, there and back, on these SLs; paths keep them. Empty: such "
              "tables are kept only if they need no more than one SL."},
      FileMembers{&SubnetConfig::adopt, &AdoptConfig::path_sl_file, &AdoptConfig::path_sl}, shared_path_sls,
      [](const AdoptConfig& adopt) -> std::string {
        if (!adopt.path_sl) return "SLs of paths are not known";
        return fmt::format("paths of {} ports", adopt.path_sl->size());
      });
}

}  // namespace

std::vector<Key> adopt_keys() {
  return {
      row({.table = "adopt",
           .name = "routes",
           .opensm = "",
           .doc = "What to do with the forwarding tables that another subnet manager left: \"keep\" them "
                  "where they are proven, \"repair\" what breaks our engine's order of up and down, or "
                  "\"converge\": compute new ones."},
          &SubnetConfig::adopt, &AdoptConfig::routes,
          one_of<AdoptRoutes>({{"keep", AdoptRoutes::keep},
                               {"repair", AdoptRoutes::repair},
                               {"converge", AdoptRoutes::converge}})),
      row({.table = "adopt",
           .name = "adaptive_routing",
           .opensm = "",
           .doc =
               "What to do with adaptive routing that another subnet manager left on in switches of "
               "NVIDIA (ARInfo): they forward by its groups of ports, past the forwarding tables. \"warn\" "
               "says so in the log and in `smd status`, \"disable\" also switches it off."},
          &SubnetConfig::adopt, &AdoptConfig::adaptive_routing,
          one_of<AdoptAdaptive>({{"warn", AdoptAdaptive::warn}, {"disable", AdoptAdaptive::disable}})),
      row({.table = "adopt",
           .name = "foreign_pkeys",
           .opensm = "",
           .doc = "What to do with P_Keys that another subnet manager left on ports and that belong to no "
                  "partition "
                  "defined here: \"keep\" them, or \"remove\" them, which needs a default partition that is "
                  "defined."},
          &SubnetConfig::adopt, &AdoptConfig::foreign_pkeys,
          one_of<ForeignPKeys>({{"keep", ForeignPKeys::keep}, {"remove", ForeignPKeys::remove}})),
      adopted_path_sls(),
      row({.table = "adopt",
           .name = "grace",
           .opensm = "",
           .doc = "How long after smd has become master multicast groups of which it does not know are "
                  "forwarded as switches have them: packets to them are forwarded until the members have "
                  "joined again, which gives them other multicast LIDs. Also how long members stay that were "
                  "taken over from the MCMemberRecords of a master whose state was not copied, until they "
                  "have joined again."},
          &SubnetConfig::adopt, &AdoptConfig::grace,
          duration(std::chrono::seconds(1), std::chrono::hours(24), "they end at once")),
  };
}

std::vector<Key> ha_keys() {
  constexpr auto kHa = &SubnetConfig::ha;
  return {
      row({.table = "ha",
           .name = "profile",
           .opensm = "",
           .doc = "How soon a standby finds that its master is gone, where `poll` and `losses` do not say: "
                  "\"normal\" asks every 300 ms and takes over after 4 losses, \"fast\" every 50 ms and "
                  "after 3. A master that stands still for half of that time writes nothing before it has "
                  "asked who is master, so \"fast\" needs a machine that is never that busy."},
          kHa, &HaConfig::profile,
          one_of<HaProfile>({{"normal", HaProfile::normal}, {"fast", HaProfile::fast}})),
      row({.table = "ha",
           .name = "poll",
           .opensm = "sminfo_polling_timeout",
           .doc = "How often a standby asks the master whether it is still there: by its LID and by directed "
                  "route, of which one answer is enough."},
          kHa, &HaConfig::poll,
          or_word(duration(milliseconds(10), hours(1)), "profile", "300ms, with profile = \"fast\" 50ms")),
      row({.table = "ha",
           .name = "losses",
           .opensm = "polling_retry_number",
           .doc = "A standby takes the fabric after so many unanswered questions in a row. Each is sent once "
                  "and waited for until the next, whatever [mad] says: a master that is gone is missed after "
                  "poll * (losses + 1) at most. OpenSM's polling_retry_number is one less."},
          kHa, &HaConfig::losses,
          or_word(whole<std::uint32_t>(1, 1000), "profile", "4, with profile = \"fast\" 3")),
      row({.table = "ha",
           .name = "quiet",
           .opensm = "",
           .doc = "How long an SM that starts while another one is master waits before it asks for the "
                  "fabric, whatever its priority. During that time it shows priority 0, or Not-active "
                  "where that would still outrank the master; it takes over if the master fails."},
          kHa, &HaConfig::quiet,
          or_word(duration(milliseconds(1), hours(24), "it asks at once, as IBA has it"), "auto",
                  "10m with [ha] peers or [sm] allowed_guids, else 0s")),
  };
}

std::vector<Key> lids_keys() {
  constexpr auto kLids = &SubnetConfig::lids;
  auto lmc = whole_or_word<std::uint8_t>(0, 7, "keep");
  lmc.explain = [](const std::optional<std::uint8_t>& value) {
    if (!value)
      return std::string("as the ports have it when the fabric is taken over; 1 LID a port in a new one");
    return fmt::format("{} LID{} a port", 1U << *value, *value == 0 ? "" : "s");
  };
  return {
      row({.table = "lids",
           .name = "lmc",
           .opensm = "lmc",
           .doc =
               "Each port of a CA or router gets 2^lmc LIDs, for as many paths to it. With \"keep\" those of "
               "the fabric that is taken over stay; where ports differ, as many as the highest has."},
          kLids, &LidsConfig::lmc, lmc),
      row({.table = "lids", .name = "first", .opensm = "", .doc = "The lowest LID that is given to a port."},
          kLids, &LidsConfig::first, whole<Lid>(1, kLastUnicastLid.value())),
      row({.table = "lids", .name = "last", .opensm = "", .doc = "The highest LID that is given to a port."},
          kLids, &LidsConfig::last, whole<Lid>(1, kLastUnicastLid.value())),
      row({.table = "lids",
           .name = "reassign",
           .opensm = "reassign_lids",
           .doc = "Give every port a new LID when smd becomes master, instead of keeping those that are "
                  "valid or stored. Breaks what is connected."},
          kLids, &LidsConfig::reassign, flag("every port gets a new LID", "valid LIDs stay")),
      row({.table = "lids",
           .name = "import_guid2lid",
           .opensm = "",
           .doc =
               "OpenSM's guid2lid, or a file with `GUID LID` a line. It is read when the store knows no LID "
               "of the subnet yet, and never again: for moving from OpenSM without a change of LIDs."},
          kLids, &LidsConfig::import_guid2lid, path("a file's name, or nothing", true)),
  };
}

}  // namespace smd::config
