// SPDX-License-Identifier: Apache-2.0
#pragma once
// A file layer for SQLite on which the power fails, the disk is full, or the directory is read-only. It
// stands before the operating system's one (https://sqlite.org/vfs.html, "VFS shims") and keeps, for each
// file, what was written since its last sync: at a power failure any of that may be there, half there, or not
// there.

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace smd::test {

class FaultyVfs {
 public:
  explicit FaultyVfs(std::string name) : name_(std::move(name)), real_(sqlite3_vfs_find(nullptr)) {
    vfs_ = *real_;
    vfs_.zName = name_.c_str();
    vfs_.pNext = nullptr;
    vfs_.pAppData = this;
    vfs_.szOsFile = static_cast<int>(sizeof(File)) + real_->szOsFile;
    vfs_.xOpen = &open;
    vfs_.xDelete = [](sqlite3_vfs* vfs, const char* path, int sync_directory) {
      auto& self = of(vfs);
      if (const int code = self.step(); code != SQLITE_OK) return code;
      self.unsynced_.erase(path);
      return self.real_->xDelete(self.real_, path, sync_directory);
    };
    sqlite3_vfs_register(&vfs_, 0);
  }
  FaultyVfs(const FaultyVfs&) = delete;
  FaultyVfs& operator=(const FaultyVfs&) = delete;
  ~FaultyVfs() { sqlite3_vfs_unregister(&vfs_); }

  const std::string& name() const { return name_; }
  /// Writes, truncations, syncs and removals so far.
  std::uint64_t steps() const { return steps_; }
  /// The step with this number, counted from now, and all later ones fail.
  void die_at(std::uint64_t step) { last_ = steps_ + step; }
  bool dead() const { return steps_ >= last_; }
  /// All writes fail with this code; SQLITE_OK: no more.
  void refuse(int code) { refused_ = code; }

  /// What the disk holds after the power failed. `keep_all`: only the process was killed. Every connection is
  /// closed by now.
  void lose_power(std::uint64_t seed, bool keep_all) {
    std::mt19937_64 random(seed);
    for (auto& [path, writes] : std::exchange(unsynced_, {})) {
      if (!keep_all) lose(path, writes, random);
    }
    last_ = UINT64_MAX;
  }

 private:
  struct Write {
    std::int64_t offset = 0, size_before = 0;
    std::vector<char> before, after;  ///< `after` empty: cut to `offset`
  };
  struct File {
    sqlite3_file base;
    FaultyVfs* vfs;
    const char* path;  ///< SQLite's own, lives as long as the file is open
    sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
  };

  static FaultyVfs& of(sqlite3_vfs* vfs) { return *static_cast<FaultyVfs*>(vfs->pAppData); }
  static File& of(sqlite3_file* file) { return *reinterpret_cast<File*>(file); }

  int step() {
    ++steps_;
    if (dead()) return SQLITE_IOERR;
    return refused_;
  }

  static int open(sqlite3_vfs* vfs, const char* path, sqlite3_file* raw, int flags, int* out) {
    auto& self = of(vfs);
    auto& file = of(raw);
    file = {.base = {nullptr}, .vfs = &self, .path = path};
    const int code = self.real_->xOpen(self.real_, path, file.real(), flags, out);
    if (code == SQLITE_OK) file.base.pMethods = &self.methods();
    return code;
  }

  static std::int64_t size_of(File& file) {
    sqlite3_int64 size = 0;
    file.real()->pMethods->xFileSize(file.real(), &size);
    return size;
  }

  /// Notes what a write is about to replace.
  void note(File& file, Write write, std::int64_t count) {
    if (file.path == nullptr) return;
    write.size_before = size_of(file);
    const auto there = std::clamp<std::int64_t>(write.size_before - write.offset, 0, count);
    write.before.resize(static_cast<std::size_t>(there));
    if (there > 0) {
      file.real()->pMethods->xRead(file.real(), write.before.data(), static_cast<int>(there), write.offset);
    }
    unsynced_[file.path].push_back(std::move(write));
  }

  const sqlite3_io_methods& methods() {
    if (methods_.iVersion != 0) return methods_;
    methods_ = {
        .iVersion = 2,
        .xClose = [](sqlite3_file* f) { return of(f).real()->pMethods->xClose(of(f).real()); },
        .xRead = [](sqlite3_file* f, void* to, int n,
                    sqlite3_int64 at) { return of(f).real()->pMethods->xRead(of(f).real(), to, n, at); },
        .xWrite = &write,
        .xTruncate = &truncate,
        .xSync = &sync,
        .xFileSize = [](sqlite3_file* f,
                        sqlite3_int64* n) { return of(f).real()->pMethods->xFileSize(of(f).real(), n); },
        .xLock = [](sqlite3_file* f, int how) { return of(f).real()->pMethods->xLock(of(f).real(), how); },
        .xUnlock = [](sqlite3_file* f,
                      int how) { return of(f).real()->pMethods->xUnlock(of(f).real(), how); },
        .xCheckReservedLock =
            [](sqlite3_file* f, int* is) {
              return of(f).real()->pMethods->xCheckReservedLock(of(f).real(), is);
            },
        .xFileControl =
            [](sqlite3_file* f, int what, void* with) {
              return of(f).real()->pMethods->xFileControl(of(f).real(), what, with);
            },
        .xSectorSize = [](sqlite3_file*) { return kSector; },
        // Nothing is atomic, nothing is in order: the least that a disk gives.
        .xDeviceCharacteristics = [](sqlite3_file*) { return 0; },
        .xShmMap =
            [](sqlite3_file* f, int page, int size, int extend, void volatile** to) {
              return of(f).real()->pMethods->xShmMap(of(f).real(), page, size, extend, to);
            },
        .xShmLock = [](sqlite3_file* f, int at, int n,
                       int flags) { return of(f).real()->pMethods->xShmLock(of(f).real(), at, n, flags); },
        .xShmBarrier = [](sqlite3_file* f) { of(f).real()->pMethods->xShmBarrier(of(f).real()); },
        .xShmUnmap = [](sqlite3_file* f,
                        int remove) { return of(f).real()->pMethods->xShmUnmap(of(f).real(), remove); },
        .xFetch = nullptr,
        .xUnfetch = nullptr,
    };
    return methods_;
  }

  static int write(sqlite3_file* raw, const void* from, int count, sqlite3_int64 offset) {
    auto& file = of(raw);
    if (const int code = file.vfs->step(); code != SQLITE_OK) return code;
    const auto* bytes = static_cast<const char*>(from);
    file.vfs->note(file, {.offset = offset, .size_before = 0, .before = {}, .after = {bytes, bytes + count}},
                   count);
    return file.real()->pMethods->xWrite(file.real(), from, count, offset);
  }

  static int truncate(sqlite3_file* raw, sqlite3_int64 size) {
    auto& file = of(raw);
    if (const int code = file.vfs->step(); code != SQLITE_OK) return code;
    file.vfs->note(file, {.offset = size, .size_before = 0, .before = {}, .after = {}},
                   std::max<std::int64_t>(size_of(file) - size, 0));
    return file.real()->pMethods->xTruncate(file.real(), size);
  }

  /// The real disk need not: what counts is what we remember.
  static int sync(sqlite3_file* raw, int) {
    auto& file = of(raw);
    if (const int code = file.vfs->step(); code != SQLITE_OK) return code;
    if (file.path != nullptr) file.vfs->unsynced_.erase(file.path);
    return SQLITE_OK;
  }

  static void put(int to, const char* from, std::size_t count, std::int64_t offset) {
    if (pwrite(to, from, count, offset) != static_cast<ssize_t>(count)) throw std::runtime_error("pwrite");
  }

  /// Back to what was synced, then again any of the writes, sector by sector.
  static void lose(const std::string& path, const std::vector<Write>& writes, std::mt19937_64& random) {
    const int file = ::open(path.c_str(), O_RDWR);
    if (file < 0) return;
    for (auto it = writes.rbegin(); it != writes.rend(); ++it) {
      put(file, it->before.data(), it->before.size(), it->offset);
      if (ftruncate(file, it->size_before) != 0) throw std::runtime_error("ftruncate");
    }
    for (const auto& write : writes) {
      if (write.after.empty() && random() % 2 == 0 && ftruncate(file, write.offset) != 0) {
        throw std::runtime_error("ftruncate");
      }
      for (std::size_t at = 0; at < write.after.size(); at += kSector) {
        const auto count = std::min<std::size_t>(kSector, write.after.size() - at);
        if (random() % 2 == 0)
          put(file, write.after.data() + at, count, write.offset + static_cast<std::int64_t>(at));
      }
    }
    close(file);
  }

  static constexpr int kSector = 512;
  std::string name_;
  sqlite3_vfs* real_;
  sqlite3_vfs vfs_{};
  sqlite3_io_methods methods_{};
  std::map<std::string, std::vector<Write>> unsynced_;
  std::uint64_t steps_ = 0, last_ = UINT64_MAX;
  std::atomic<int> refused_{SQLITE_OK};  // changed by the test while a store thread writes
};

}  // namespace smd::test
