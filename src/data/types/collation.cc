// Names of collations, as Spark's CollationFactory spells them: UTF8_BINARY, UTF8_LCASE, and ICU locales with modifiers
// ("UNICODE", "UNICODE_CI", "de_CI_AI", "sr_Cyrl_SRB_AI").

#include <algorithm>
#include <array>

#include "data/types/type_node.h"

namespace thalweg::data::internal {
namespace {

// ICU locales by their name in Spark.
constexpr std::array<std::string_view, 147> kLocales = {
    "UTF8_BINARY", "UTF8_LCASE", "UNICODE", "af", "am", "ar", "ar_SAU", "as", "az", "be", "bg", "blo", "bn", "bo",
    "br", "bs", "bs_Cyrl", "ca", "ceb", "chr", "cs", "cy", "da", "de", "de_AUT", "dsb", "dz", "ee", "el", "en",
    "en_USA", "eo", "es", "et", "fa", "fa_AFG", "ff", "ff_Adlm", "fi", "fil", "fo", "fr", "fr_CAN", "fy", "ga", "gl",
    "gu", "ha", "haw", "he", "he_ISR", "hi", "hr", "hsb", "hu", "hy", "id", "id_IDN", "ig", "is", "it", "ja", "ka",
    "kk", "kk_Arab", "kl", "km", "kn", "ko", "kok", "ku", "ky", "lb", "lij", "lkt", "ln", "lo", "lt", "lv", "mk",
    "ml", "mn", "mr", "ms", "mt", "my", "nb", "nb_NOR", "ne", "nl", "nn", "no", "nso", "om", "or", "pa", "pa_Guru",
    "pa_Guru_IND", "pl", "ps", "pt", "ro", "ru", "sa", "se", "si", "sk", "sl", "smn", "sq", "sr", "sr_Cyrl",
    "sr_Cyrl_BIH", "sr_Cyrl_MNE", "sr_Cyrl_SRB", "sr_Latn", "sr_Latn_BIH", "sr_Latn_SRB", "st", "sv", "sw", "ta",
    "te", "th", "tk", "tn", "to", "tr", "ug", "uk", "ur", "uz", "vi", "wae", "wo", "xh", "yi", "yo", "zh", "zh_Hans",
    "zh_Hans_CHN", "zh_Hans_SGP", "zh_Hant", "zh_Hant_HKG", "zh_Hant_MAC", "zh_Hant_TWN", "zu"};

}  // namespace

std::string_view CollationProvider(std::string_view collation) {
  return collation.starts_with("UTF8_") ? "spark" : "icu";
}

std::optional<std::string> CanonicalCollation(std::string_view name) {
  std::string upper = UpperAscii(name);
  // Modifiers stand behind the locale, in any order and each at most once; the defaults are not written.
  bool case_insensitive = false;
  bool accent_insensitive = false;
  std::string trim;
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view suffix : {"_CI", "_AI", "_CS", "_AS", "_RTRIM"}) {
      if (!upper.ends_with(suffix)) continue;
      upper.erase(upper.size() - suffix.size());
      if (suffix == "_CI") case_insensitive = true;
      if (suffix == "_AI") accent_insensitive = true;
      if (suffix == "_RTRIM") trim = suffix;
      found = true;
      break;
    }
  }
  const auto* const at = std::find_if(kLocales.begin(), kLocales.end(),
                                      [&](std::string_view locale) { return UpperAscii(locale) == upper; });
  if (at == kLocales.end()) return std::nullopt;
  std::string out(*at);
  if (at->starts_with("UTF8_") && (case_insensitive || accent_insensitive)) return std::nullopt;
  if (case_insensitive) out += "_CI";
  if (accent_insensitive) out += "_AI";
  return out + trim;
}

}  // namespace thalweg::data::internal
