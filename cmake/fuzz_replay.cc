// main() of fuzz programs in builds without libFuzzer: replays a corpus, then seeded mutations of it.
//   PROGRAM [--mutations N] [--seed S] [--dump FILE] FILE_OR_FOLDER...
// With --dump the input is written to FILE before each run, so that a crash leaves what caused it.
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Bytes = std::vector<uint8_t>;

Bytes ReadFile(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(file), {});
}

std::vector<Bytes> ReadCorpus(const std::vector<std::filesystem::path>& roots) {
  std::vector<std::filesystem::path> files;
  for (const auto& root : roots) {
    if (!std::filesystem::is_directory(root)) {
      files.push_back(root);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
      if (entry.is_regular_file()) files.push_back(entry.path());
    }
  }
  std::sort(files.begin(), files.end());  // the order decides what a seed means
  std::vector<Bytes> corpus;
  for (const auto& file : files) corpus.push_back(ReadFile(file));
  return corpus;
}

/// One to eight small changes: flip, set, insert, remove, repeat a run, splice with another input.
Bytes Mutate(Bytes input, const std::vector<Bytes>& corpus, std::mt19937_64& random) {
  static constexpr uint8_t kTelling[] = {0, 1, 0x7f, 0x80, 0xff, '"', '{', '}', '[', ']', '\\', ',', '\n', '-', '9'};
  const auto below = [&](size_t bound) { return bound == 0 ? 0 : random() % bound; };
  for (size_t change = 1 + below(8); change > 0; --change) {
    const size_t at = below(input.size() + 1);
    switch (below(6)) {
      case 0:
        if (at < input.size()) input[at] ^= static_cast<uint8_t>(1u << below(8));
        break;
      case 1:
        if (at < input.size()) input[at] = kTelling[below(std::size(kTelling))];
        break;
      case 2:
        input.insert(input.begin() + at, kTelling[below(std::size(kTelling))]);
        break;
      case 3:
        input.erase(input.begin() + at, input.begin() + at + below(input.size() - at + 1));
        break;
      case 4: {
        const Bytes run(input.begin() + at, input.begin() + at + below(std::min<size_t>(input.size() - at, 64) + 1));
        for (size_t times = 1 + below(16); times > 0; --times) input.insert(input.begin() + at, run.begin(), run.end());
        break;
      }
      default: {
        const Bytes& other = corpus[below(corpus.size())];
        input.resize(at);
        input.insert(input.end(), other.begin() + below(other.size() + 1), other.end());
      }
    }
  }
  constexpr size_t kLongest = 1 << 16;
  if (input.size() > kLongest) input.resize(kLongest);
  return input;
}

uint64_t Number(std::string_view text) {
  uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

}  // namespace

int main(int argc, char** argv) {
  uint64_t mutations = 0;
  uint64_t seed = 1;
  std::string dump;
  std::vector<std::filesystem::path> roots;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    const bool has_value = i + 1 < argc;
    if (argument == "--mutations" && has_value) {
      mutations = Number(argv[++i]);
    } else if (argument == "--seed" && has_value) {
      seed = Number(argv[++i]);
    } else if (argument == "--dump" && has_value) {
      dump = argv[++i];
    } else {
      roots.emplace_back(argument);
    }
  }
  std::vector<Bytes> corpus = ReadCorpus(roots);
  corpus.emplace_back();  // the empty input is always tried
  const auto run = [&](const Bytes& input) {
    if (!dump.empty()) {
      std::ofstream(dump, std::ios::binary).write(reinterpret_cast<const char*>(input.data()), static_cast<long>(input.size()));
    }
    LLVMFuzzerTestOneInput(input.data(), input.size());
  };
  for (const Bytes& input : corpus) run(input);
  std::mt19937_64 random(seed);
  for (uint64_t i = 0; i < mutations; ++i) run(Mutate(corpus[random() % corpus.size()], corpus, random));
  std::printf("%zu inputs, %llu mutations, seed %llu\n", corpus.size(), static_cast<unsigned long long>(mutations),
              static_cast<unsigned long long>(seed));
  return 0;
}
