#pragma once

// Paths as text: components, URIs. Three spellings of one place must not be confused:
//   path       /data/in/part a%.json           what FileSystem takes; nothing is encoded
//   path text  file:/data/in/part a%.json      what users and Hadoop's Path write; scheme, nothing encoded
//   URI        file:///data/in/part%20a%25.json  what Spark's logs and _metadata.file_path hold

#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg::data {

/// `directory/name`, without doubling the separator.
std::string JoinPath(std::string_view directory, std::string_view name);
/// Everything before the last component: "/a/b" of "/a/b/c", "/" of "/a", "." of "a".
std::string ParentPath(std::string_view path);
/// The last component, trailing separators ignored.
std::string_view PathName(std::string_view path);
/// Without empty and "." components and trailing separators, ".." resolved: by text alone, links are not followed.
std::string NormalizePath(std::string_view path);
/// Absolute and normalized, from the process's working directory.
std::string AbsolutePath(std::string_view path);

/// The scheme of a path text or URI in lower case ("file", "s3a"), empty when it has none.
std::string UriScheme(std::string_view text);

/// The path that a user's text (an option `path`, a checkpoint location, a table location) names: without a `file:` scheme
/// and authority; percent escapes stay as they are. Errors: UNSUPPORTED_FEATURE.THALWEG for other schemes.
Result<std::string> PathFromText(std::string_view text);
/// The path that a URI of a log entry names: percent escapes are decoded; text without a scheme too.
/// Errors: UNSUPPORTED_FEATURE.THALWEG for other schemes; INTERNAL_ERROR for a broken escape.
Result<std::string> PathFromUri(std::string_view uri);
/// `file://` and the path encoded as java.net.URI does: what is not legal in a path becomes %XX of its UTF-8 bytes; letters
/// beyond ASCII stay. The path must be absolute.
std::string UriFromPath(std::string_view path);
/// `file:` and the path, not encoded: how Hadoop prints a qualified path (state schema files, SHOW output).
std::string QualifiedPathText(std::string_view path);

/// Percent-encodes and decodes with java.net.URI's rule for paths.
std::string EncodeUriPath(std::string_view path);
Result<std::string> DecodeUriPath(std::string_view encoded);

/// `value` as it stands in a partition directory `column=value`: characters that a path cannot hold become %XX (Hive's rule).
/// An empty value is `__HIVE_DEFAULT_PARTITION__`, as is null (the caller passes empty).
std::string EscapePartitionValue(std::string_view value);
/// The reverse; a broken escape stays as it is.
std::string UnescapePartitionValue(std::string_view text);
inline constexpr std::string_view kDefaultPartitionName = "__HIVE_DEFAULT_PARTITION__";

}  // namespace thalweg::data
