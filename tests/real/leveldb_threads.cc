// Four threads write, read, iterate and take snapshots in one database of a shared libleveldb;
// prints one line for each, with what it found.  usage: leveldb_threads FOLDER
#include <leveldb/cache.h>
#include <leveldb/db.h>
#include <leveldb/filter_policy.h>
#include <leveldb/write_batch.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kThreads = 4;
constexpr int kKeys = 30000;

std::string Key(int thread, int at) { return std::to_string(thread) + "/" + std::to_string(at * 7919 % kKeys); }

void Must(const leveldb::Status& status)
{
    if (!status.ok()) throw std::runtime_error(status.ToString());
}

int Missing(leveldb::DB* db, int thread)
{
    int missing = 0;
    std::string value;
    for (int at = 0; at < kKeys; at += 3) {
        try {
            Must(db->Get(leveldb::ReadOptions(), Key(thread, at), &value));
        } catch (const std::runtime_error&) {
            missing++;
        }
    }
    return missing;
}

void Work(leveldb::DB* db, int thread, std::string* said)
{
    for (int at = 0; at < kKeys; at++) Must(db->Put(leveldb::WriteOptions(), Key(thread, at), std::string(at % 100, 'v')));
    const leveldb::Snapshot* before = db->GetSnapshot();
    leveldb::WriteBatch batch;
    for (int at = 0; at < kKeys; at += 6) batch.Delete(Key(thread, at));
    Must(db->Write(leveldb::WriteOptions(), &batch));
    leveldb::ReadOptions old;
    old.snapshot = before;
    int found = 0;
    std::unique_ptr<leveldb::Iterator> it(db->NewIterator(old));
    std::string prefix = std::to_string(thread) + "/";
    for (it->Seek(prefix); it->Valid() && it->key().starts_with(prefix); it->Next()) found++;
    it.reset();
    db->ReleaseSnapshot(before);
    *said = "thread " + std::to_string(thread) + ": " + std::to_string(found) + " in the snapshot, " + std::to_string(Missing(db, thread)) +
        " deleted: done";
}

}  // namespace

int main(int argc, char** argv)
{
    if (argc < 2) return 2;
    leveldb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = 256 << 10;
    options.filter_policy = leveldb::NewBloomFilterPolicy(10);
    options.block_cache = leveldb::NewLRUCache(1 << 20);
    leveldb::DestroyDB(argv[1], options);
    leveldb::DB* db = nullptr;
    Must(leveldb::DB::Open(options, argv[1], &db));
    std::vector<std::string> said(kThreads);
    std::vector<std::thread> threads;
    for (int i = 0; i < kThreads; i++) threads.emplace_back(Work, db, i, &said[i]);
    for (auto& thread : threads) thread.join();
    for (const auto& line : said) std::puts(line.c_str());
    db->CompactRange(nullptr, nullptr);
    delete db;
    delete options.block_cache;
    delete options.filter_policy;
    return 0;
}
