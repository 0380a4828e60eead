# result.json from the journal, and its check against the schema.
pairmark_library(pairmark_result
  result.cpp rows.cpp row_json.cpp scaling.cpp scaling_family.cpp scaling_words.cpp summary.cpp schema_check.cpp
  LINK pairmark_base pairmark_stats)
pairmark_test(result_test result_test.cpp rows_test.cpp scaling_test.cpp
  LINK pairmark_result)
pairmark_test(result_full_test result_full_test.cpp
  LINK pairmark_result LABELS full)
if(TARGET result_test)
  target_compile_definitions(result_test PRIVATE
    PAIRMARK_SCHEMA="${PROJECT_SOURCE_DIR}/harness/report/schema/result.schema.json")
endif()
