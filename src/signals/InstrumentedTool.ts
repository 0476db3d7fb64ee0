/**
 * What is known of one tool of an instrumented toolkit before any call: computed once, read on every call.
 */

import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import type * as Schema from "effect/Schema"
import * as SchemaAST from "effect/SchemaAST"
import * as ContentPolicy from "../content/ContentPolicy.ts"
import * as SensitiveSchema from "../content/SensitiveSchema.ts"
import { OPERATION_EXECUTE_TOOL, TOOL_TYPE_FUNCTION } from "../semconv/Attributes.ts"
import * as ToolMetrics from "./ToolMetrics.ts"

/**
 * Annotation for a tool that is no plain `function`: its `gen_ai.tool.type`, for example `datastore`.
 *
 * `Search.annotate(ToolType, "datastore")`
 */
export class ToolType extends Context.Service<ToolType, string>()(
  "toolspan/signals/InstrumentedTool/ToolType"
) {}

/** One tool, or what stands for every tool that the toolkit lacks. */
export class InstrumentedTool {
  readonly spanName: string
  /** Undefined for a tool that the toolkit lacks, unless the provider executes it: nothing is known of it. */
  readonly type: string | undefined
  readonly tool: Tool.Any | undefined
  readonly metrics: ToolMetrics.SeriesOfTool
  /** Whether turning a result into its encoded form runs code of the tool's own, which then belongs to its span. */
  readonly encodes: boolean

  readonly #content: ContentPolicy.Options | undefined
  readonly #policies = new WeakMap<ContentPolicy.Policy, ContentPolicy.Policy>()
  #definition: object | undefined
  #argumentsMask: SensitiveSchema.Mask | undefined | null = null
  #resultMask: SensitiveSchema.Mask | undefined | null = null

  /** `type`: what the tool is, where it does not depend on the tool alone. */
  constructor(tool: Tool.Any | undefined, type: string | undefined = tool && typeOf(tool)) {
    this.tool = tool
    this.spanName = tool === undefined ? OPERATION_EXECUTE_TOOL : `${OPERATION_EXECUTE_TOOL} ${tool.name}`
    this.type = type
    this.#content = tool && contentOf(tool)
    this.encodes =
      tool !== undefined &&
      (tool.toModelOutput !== undefined || transforms(tool.successSchema) || transforms(tool.failureSchema))
    this.metrics = new ToolMetrics.SeriesOfTool(tool?.name, this.type)
  }

  /** The policy for this tool's content: its own annotation wins over the one in force. */
  policy(inForce: ContentPolicy.Policy): ContentPolicy.Policy {
    let policy = this.#policies.get(inForce)
    if (policy === undefined) {
      policy = ContentPolicy.forTool(inForce, this.#content)
      this.#policies.set(inForce, policy)
    }
    return policy
  }

  /** The tool as a model is told of it, in the form of `gen_ai.tool.definitions`. */
  get definition(): object | undefined {
    this.#definition ??= this.tool && definitionOf(this.tool)
    return this.#definition
  }

  /** Sensitive places of the encoded parameters. */
  get argumentsMask(): SensitiveSchema.Mask | undefined {
    if (this.#argumentsMask === null) {
      const tool = this.tool
      this.#argumentsMask =
        tool === undefined
          ? undefined
          : SensitiveSchema.maskOf(
              Tool.isDynamic(tool) && tool.jsonSchema !== undefined ? tool.jsonSchema : tool.parametersSchema
            )
    }
    return this.#argumentsMask
  }

  /** Sensitive places of the encoded result. */
  get resultMask(): SensitiveSchema.Mask | undefined {
    if (this.#resultMask === null) {
      this.#resultMask = this.tool === undefined ? undefined : SensitiveSchema.maskOf(this.tool.successSchema)
    }
    return this.#resultMask
  }
}

const typeOf = (tool: Tool.Any): string =>
  Context.getOrUndefined(tool.annotations, ToolType) ?? TOOL_TYPE_FUNCTION

const transforms = ({ ast }: Schema.Top): boolean => SchemaAST.toEncoded(ast) !== ast

const definitionOf = (tool: Tool.Any): object => {
  const definition = { type: "function", name: tool.name, description: Tool.getDescription(tool) }
  try {
    return { ...definition, parameters: Tool.getJsonSchema(tool) }
  } catch {
    // A schema that has no JSON form is told of to whoever sends it to a model.
    return definition
  }
}

/** The tool's own content options. Throws, at the start and not on a call, if they are not valid. */
const contentOf = (tool: Tool.Any): ContentPolicy.Options | undefined => {
  const options = Context.get(tool.annotations, ContentPolicy.ToolContent)
  try {
    ContentPolicy.forTool(ContentPolicy.make(), options)
  } catch (cause) {
    throw new Error(`Tool "${tool.name}": ${cause instanceof Error ? cause.message : cause}`, { cause })
  }
  return options
}
