/**
 * The tools that Anthropic runs itself, one definition for each version of the API. They need no handler: their calls and results come
 * as parts of the response, with `providerExecuted: true`, and go back with the next request.
 *
 * Arguments and results are as on the wire. Results keep what is not described here: the API wants it back.
 */
import * as Tool from "effect/ai/Tool"
import * as Schema from "effect/Schema"

const JsonObject = Schema.Record(Schema.String, Schema.Json)

/** An object with these fields and any others. */
const open = <const Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.StructWithRest(Schema.Struct(fields), [JsonObject])

const CacheControl = Schema.Struct({
  type: Schema.Literal("ephemeral"),
  ttl: Schema.optionalKey(Schema.Literals(["5m", "1h"]))
})

const common = {
  allowed_callers: Schema.optionalKey(
    Schema.Array(
      Schema.Literals([
        "direct",
        "code_execution_20250825",
        "code_execution_20260120",
        "code_execution_20260521"
      ])
    )
  ),
  cache_control: Schema.optionalKey(CacheControl),
  defer_loading: Schema.optionalKey(Schema.Boolean),
  strict: Schema.optionalKey(Schema.Boolean)
}

/** What a server tool's failure says. */
const Failure = open({ type: Schema.String, error_code: Schema.String })

/** Calls are Anthropic's own, and never checked again: a call that its tool refuses comes with a result that says so. */
const Input = JsonObject

const domains = {
  allowed_domains: Schema.optionalKey(Schema.Array(Schema.String)),
  blocked_domains: Schema.optionalKey(Schema.Array(Schema.String)),
  max_uses: Schema.optionalKey(Schema.Int)
}

const inclusion = { response_inclusion: Schema.optionalKey(Schema.Literals(["full", "excluded"])) }

const webSearch = {
  ...common,
  ...domains,
  user_location: Schema.optionalKey(
    Schema.Struct({
      type: Schema.Literal("approximate"),
      city: Schema.optionalKey(Schema.String),
      country: Schema.optionalKey(Schema.String),
      region: Schema.optionalKey(Schema.String),
      timezone: Schema.optionalKey(Schema.String)
    })
  )
}

const SearchResult = open({
  type: Schema.String,
  url: Schema.String,
  title: Schema.String,
  page_age: Schema.NullOr(Schema.String)
})

const defineWebSearch = <const Id extends `anthropic.web_search_${string}`, Args extends Schema.Constraint>(
  id: Id,
  args: Args
) =>
  Tool.providerDefined({
    id,
    customName: "AnthropicWebSearch",
    providerName: "web_search",
    args,
    parameters: Input,
    success: Schema.Array(SearchResult),
    failure: Failure
  })

/** Searches the web. */
export const WebSearch_20250305 = defineWebSearch("anthropic.web_search_20250305", Schema.Struct(webSearch))
/** Searches the web, and filters what it finds by code that the model writes. */
export const WebSearch_20260209 = defineWebSearch("anthropic.web_search_20260209", Schema.Struct(webSearch))
export const WebSearch_20260318 = defineWebSearch(
  "anthropic.web_search_20260318",
  Schema.Struct({ ...webSearch, ...inclusion })
)

const webFetch = {
  ...common,
  ...domains,
  citations: Schema.optionalKey(Schema.Struct({ enabled: Schema.optionalKey(Schema.Boolean) })),
  max_content_tokens: Schema.optionalKey(Schema.Int),
  url_sources: Schema.optionalKey(JsonObject)
}

const useCache = { use_cache: Schema.optionalKey(Schema.Boolean) }

const Fetched = open({
  type: Schema.String,
  url: Schema.String,
  retrieved_at: Schema.NullOr(Schema.String),
  content: JsonObject
})

const defineWebFetch = <const Id extends `anthropic.web_fetch_${string}`, Args extends Schema.Constraint>(
  id: Id,
  args: Args
) =>
  Tool.providerDefined({
    id,
    customName: "AnthropicWebFetch",
    providerName: "web_fetch",
    args,
    parameters: Input,
    success: Fetched,
    failure: Failure
  })

/** Reads a page or a PDF from the web. */
export const WebFetch_20250910 = defineWebFetch("anthropic.web_fetch_20250910", Schema.Struct(webFetch))
/** Reads from the web, and filters what it reads by code that the model writes. */
export const WebFetch_20260209 = defineWebFetch("anthropic.web_fetch_20260209", Schema.Struct(webFetch))
export const WebFetch_20260309 = defineWebFetch(
  "anthropic.web_fetch_20260309",
  Schema.Struct({ ...webFetch, ...useCache })
)
export const WebFetch_20260318 = defineWebFetch(
  "anthropic.web_fetch_20260318",
  Schema.Struct({ ...webFetch, ...useCache, ...inclusion })
)

const defineCodeExecution = <const Id extends `anthropic.code_execution_${string}`>(id: Id) =>
  Tool.providerDefined({
    id,
    customName: "AnthropicCodeExecution",
    providerName: "code_execution",
    args: Schema.Struct(common),
    parameters: Input,
    // Of Python, of bash, or of the editor, as `type` says.
    success: open({ type: Schema.String }),
    failure: Failure
  })

/** Runs Python in a container of Anthropic's. */
export const CodeExecution_20250522 = defineCodeExecution("anthropic.code_execution_20250522")
/** Runs bash and edits files in a container of Anthropic's. */
export const CodeExecution_20250825 = defineCodeExecution("anthropic.code_execution_20250825")
export const CodeExecution_20260120 = defineCodeExecution("anthropic.code_execution_20260120")
export const CodeExecution_20260521 = defineCodeExecution("anthropic.code_execution_20260521")

const ToolReferences = open({ type: Schema.String, tool_references: Schema.Array(JsonObject) })

/** Finds tools with `defer_loading` by a regular expression. */
export const ToolSearchRegex_20251119 = Tool.providerDefined({
  id: "anthropic.tool_search_tool_regex_20251119",
  customName: "AnthropicToolSearchRegex",
  providerName: "tool_search_tool_regex",
  args: Schema.Struct(common),
  parameters: Input,
  success: ToolReferences,
  failure: Failure
})

/** Finds tools with `defer_loading` by words. */
export const ToolSearchBm25_20251119 = Tool.providerDefined({
  id: "anthropic.tool_search_tool_bm25_20251119",
  customName: "AnthropicToolSearchBm25",
  providerName: "tool_search_tool_bm25",
  args: Schema.Struct(common),
  parameters: Input,
  success: ToolReferences,
  failure: Failure
})

/** Lets the model ask another one. */
export const Advisor_20260301 = Tool.providerDefined({
  id: "anthropic.advisor_20260301",
  customName: "AnthropicAdvisor",
  providerName: "advisor",
  args: Schema.Struct({
    ...common,
    model: Schema.String,
    caching: Schema.optionalKey(CacheControl),
    max_tokens: Schema.optionalKey(Schema.Int),
    max_uses: Schema.optionalKey(Schema.Int)
  }),
  parameters: Input,
  success: open({ type: Schema.String }),
  failure: Failure
})
