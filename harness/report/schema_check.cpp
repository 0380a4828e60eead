#include "harness/report/schema_check.h"

#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

namespace pairmark {

std::vector<std::string> schema_errors(const Json& result,
                                       const std::filesystem::path& schema_path) {
  // The adapter knows nlohmann::json only, not the ordered kind.
  const nlohmann::json rules = nlohmann::json::parse(to_text(read_json_file(schema_path)));
  const nlohmann::json target = nlohmann::json::parse(to_text(result));

  valijson::Schema schema;
  valijson::SchemaParser parser;
  parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(rules), schema);

  valijson::Validator validator;
  valijson::ValidationResults found;
  std::vector<std::string> errors;
  if (validator.validate(schema, valijson::adapters::NlohmannJsonAdapter(target), &found))
    return errors;
  valijson::ValidationResults::Error error;
  while (found.popError(error)) {
    std::string place;
    for (const std::string& step : error.context) place += step;
    errors.push_back(place + ": " + error.description);
  }
  return errors;
}

}  // namespace pairmark
