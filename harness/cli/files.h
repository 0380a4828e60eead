// Files that come with the program: installed under share/pairmark, or in the source tree of a
// build.
#pragma once

#include <filesystem>
#include <string>

namespace pairmark {

// <prefix>/share/pairmark/<installed>, found from where the program lies, else <source
// tree>/<in_source>. Throws Error when neither is there.
std::filesystem::path shared_file(const std::string& installed, const std::string& in_source);

// What a user named as a result: the file, or result.json in the folder of a run.
std::string result_path(const std::string& given);

}  // namespace pairmark
