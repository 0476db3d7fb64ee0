/**
 * The JSON schema that the model sees of a tool's parameters, and the way back: what it answers with, in the shape that the tool's own
 * schema decodes.
 *
 * The two shapes differ. JSON has no `undefined`, so a field that is optional or undefined is offered as one that may be null, and the tool's
 * schema would refuse the null. A date is offered as a string. A strict tool's optional fields are required and may be null.
 */
import * as AiError from "effect/ai/AiError"
import { toCodecAnthropic } from "effect/ai/AnthropicStructuredOutput"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Tool from "effect/ai/Tool"
import type * as JsonSchema from "effect/JsonSchema"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

export interface InputSchema extends JsonSchema.JsonSchema {
  type: "object"
}

/** Fails if the parameters have no JSON schema, or none of an object, which is all that the API takes. */
export const inputSchema = (tool: Tool.Any): Result.Result<InputSchema, AiError.ToolConfigurationError> => {
  const refused = (description: string) =>
    Result.fail(new AiError.ToolConfigurationError({ toolName: tool.name, description }))
  let schema: JsonSchema.JsonSchema
  try {
    schema = Tool.getJsonSchema(tool, {
      transformer: isStrict(tool) ? toCodecAnthropic : LanguageModel.defaultCodecTransformer
    })
  } catch (error) {
    return refused(
      `its parameters have no JSON schema: ${error instanceof Error ? error.message : String(error)}. ` +
        "Give each field a schema that JSON can hold; a field that may be left out is Schema.optionalKey(…)."
    )
  }
  // Parameters of which nothing is known.
  if (Object.keys(schema).every((key) => key === "description"))
    return Result.succeed({ ...schema, type: "object" })
  if (schema["type"] === "object") return Result.succeed({ ...schema, type: "object" })
  const what = schema["anyOf"] === undefined ? `of type ${JSON.stringify(schema["type"])}` : "a union"
  return refused(
    `its parameters are ${what}, and the API takes only an object. Make them a Schema.Struct, with a union, for instance, as one of its fields.`
  )
}

/**
 * What the model called the tool with, as the tool's schema decodes it. What the schema takes as it is stays as it is; so does what it takes
 * in no shape, for whoever handles the call to say what is wrong with it.
 */
export const fromModel = (tool: Tool.Any, params: unknown): unknown => {
  if (Tool.isDynamic(tool) && tool.jsonSchema !== undefined) return params
  const schema = tool.parametersSchema
  // The model calls a tool without parameters with an empty object.
  if (!Schema.isSchema(schema)) return params
  const strict = isStrict(tool)
  try {
    const takes = Schema.is(Schema.toEncoded(schema))
    if (!strict && takes(params)) return params
    const codec = strict ? toCodecAnthropic(schema).codec : Schema.toCodecJson(schema)
    // A schema that needs services to decode fails here, and the parameters stay as they are.
    const decoded = Schema.decodeUnknownOption(codec as Schema.Codec<unknown>)(params)
    const encoded = Option.flatMap(decoded, Schema.encodeUnknownOption(schema as Schema.Codec<unknown>))
    if (Option.isNone(encoded)) return params
    // Who keeps the call keeps it as JSON, if it can be.
    const json = withoutUndefined(encoded.value)
    return takes(json) ? json : encoded.value
  } catch {
    return params
  }
}

const isStrict = (tool: Tool.Any): boolean => Tool.getStrictMode(tool) === true

const withoutUndefined = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutUndefined)
  if (!Predicate.isObject(value) || Object.getPrototypeOf(value) !== Object.prototype) return value
  const entries = Object.entries(value).filter(([, field]) => field !== undefined)
  return Object.fromEntries(entries.map(([name, field]) => [name, withoutUndefined(field)]))
}
