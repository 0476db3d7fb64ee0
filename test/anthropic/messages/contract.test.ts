/**
 * That nothing which the SDK's types list is without a case: blocks, deltas, events, citations, stop reasons, errors, tools and betas, read
 * from the SDK's own declarations.
 */
import * as fs from "node:fs"
import { createRequire } from "node:module"
import * as path from "node:path"
import type { BetaRawMessageStreamEvent } from "@anthropic-ai/sdk/resources/beta/messages"
import { assert, describe, it } from "@effect/vitest"
import { toCodecAnthropic } from "effect/ai/AnthropicStructuredOutput"
import * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { parseSync, type TSType } from "oxc-parser"
import * as AnthropicTools from "../../../src/anthropic/AnthropicTools.ts"
import * as ApiError from "../../../src/anthropic/ApiError.ts"
import * as CallBlocks from "../../../src/anthropic/CallBlocks.ts"
import * as Citations from "../../../src/anthropic/Citations.ts"
import * as Finish from "../../../src/anthropic/Finish.ts"
import * as MessageDecoder from "../../../src/anthropic/MessageDecoder.ts"
import * as ServerBlocks from "../../../src/anthropic/ServerBlocks.ts"
import * as ServerTools from "../../../src/anthropic/ServerTools.ts"
import { StreamDecoder } from "../../../src/anthropic/StreamDecoder.ts"
import * as ToolDefinitions from "../../../src/anthropic/ToolDefinitions.ts"
import * as ToolNames from "../../../src/anthropic/ToolNames.ts"
import { ToolOptions } from "../../../src/anthropic/ToolOptions.ts"
import * as ToolSchema from "../../../src/anthropic/ToolSchema.ts"
import { message } from "../../support/MessagesServer.ts"

const root = path.dirname(createRequire(import.meta.url).resolve("@anthropic-ai/sdk"))

/** The string literals of a declared type, or of one of the fields of the interfaces that it is a union of. */
class Declarations {
  readonly #types = new Map<string, TSType>()
  readonly #interfaces = new Map<string, ReadonlyMap<string, TSType>>()

  constructor(file: string) {
    const { program } = parseSync(file, fs.readFileSync(path.join(root, file), "utf8"))
    for (const statement of program.body) {
      const declaration = statement.type === "ExportNamedDeclaration" ? statement.declaration : undefined
      if (declaration?.type === "TSTypeAliasDeclaration") {
        this.#types.set(declaration.id.name, declaration.typeAnnotation)
      }
      if (declaration?.type === "TSInterfaceDeclaration") {
        const fields = declaration.body.body.flatMap((field) =>
          field.type === "TSPropertySignature" && field.key.type === "Identifier" && field.typeAnnotation
            ? [[field.key.name, field.typeAnnotation.typeAnnotation] as const]
            : []
        )
        this.#interfaces.set(declaration.id.name, new Map(fields))
      }
    }
  }

  literals(name: string, field?: string): ReadonlyArray<string> {
    const found = [...this.#literalsOf(this.#type(name), field)]
    assert.isNotEmpty(
      found,
      `the SDK declares no literals for ${name}${field === undefined ? "" : `.${field}`}`
    )
    return found
  }

  #type(name: string): TSType {
    return (
      this.#types.get(name) ?? ({ type: "TSTypeReference", typeName: { type: "Identifier", name } } as TSType)
    )
  }

  *#literalsOf(type: TSType, field: string | undefined): Iterable<string> {
    if (type.type === "TSUnionType") for (const member of type.types) yield* this.#literalsOf(member, field)
    if (
      type.type === "TSLiteralType" &&
      type.literal.type === "Literal" &&
      typeof type.literal.value === "string"
    ) {
      yield type.literal.value
    }
    if (type.type !== "TSTypeReference" || type.typeName.type !== "Identifier") return
    const { name } = type.typeName
    const alias = this.#types.get(name)
    if (alias !== undefined) yield* this.#literalsOf(alias, field)
    const annotation = field === undefined ? undefined : this.#interfaces.get(name)?.get(field)
    if (annotation !== undefined) yield* this.#literalsOf(annotation, undefined)
  }
}

const beta = new Declarations("resources/beta/messages/messages.d.ts")
const general = new Declarations("resources/messages/messages.d.ts")
const betas = new Declarations("resources/beta/beta.d.ts")
const shared = new Declarations("resources/shared.d.ts")

/** The parts of these events, and what was wrong with the last. */
const decode = (events: ReadonlyArray<BetaRawMessageStreamEvent>) => {
  const decoder = new StreamDecoder(offered(), received)
  const parts: Array<unknown> = []
  const failures = events.map((event) => decoder.decode(event, parts as never))
  return { parts, failure: failures.find((failure) => failure !== undefined) }
}

const offered = () => CallBlocks.offered(Result.getOrThrow(ToolNames.make([])), [], Prompt.empty, true)
const received = { requestId: null, timestamp: "2026-12-01T00:00:00.000Z" }
const block = (type: string) =>
  ({
    type,
    id: "a",
    tool_use_id: "a",
    name: "a",
    input: {},
    text: "",
    thinking: "",
    signature: "",
    data: "",
    content: { type: "a" },
    citations: null
  }) as never

describe("the SDK's types list no", () => {
  it("stop reason without a finish reason", () => {
    assert.sameMembers(Object.keys(Finish.reasons), [...beta.literals("BetaStopReason")])
    assert.strictEqual(Finish.reasonOf("tired"), "other")
    assert.strictEqual(Finish.reasonOf(null), "unknown")
  })

  it("block of a message that is not read, in either mode", () => {
    const types = beta.literals("BetaContentBlock", "type")
    assert.include(types, "text")
    for (const type of types) {
      const whole = MessageDecoder.decode(message([block(type)]), offered(), received)
      assert.isTrue(Result.isSuccess(whole), type)
      const { failure, parts } = decode([
        { type: "message_start", message: message([]) },
        { type: "content_block_start", index: 0, content_block: block(type) },
        { type: "content_block_stop", index: 0 }
      ])
      assert.isUndefined(failure, type)
      assert.isAbove(parts.length, 1, type)
    }
    const unknown = MessageDecoder.decode(message([block("hologram")]), offered(), received)
    assert.isTrue(Result.isFailure(unknown))
  })

  it("delta that is not read", () => {
    const failureOf = (type: string) =>
      decode([{ type: "content_block_delta", index: 0, delta: { type } as never }]).failure?.message
    for (const type of beta.literals("BetaRawContentBlockDelta", "type")) {
      assert.include(failureOf(type), "where there can be none")
    }
    assert.include(failureOf("hologram_delta"), "does not know")
  })

  it("event that is passed over", () => {
    for (const type of beta.literals("BetaRawMessageStreamEvent", "type")) {
      const { failure, parts } = decode([
        {
          type,
          index: 0,
          message: message([]),
          content_block: block("text"),
          delta: { type: "text_delta" }
        } as never
      ])
      assert.isTrue(failure !== undefined || parts.length > 0, type)
    }
  })

  it("citation that names no source", () => {
    for (const type of beta.literals("BetaTextCitation", "type")) {
      const citation = {
        type,
        url: "https://a.b/",
        source: "a",
        title: null,
        document_index: 0,
        document_title: null
      }
      assert.isDefined(Citations.source(citation as never, "id"), type)
    }
  })

  it("call or result of a server tool that belongs to none", () => {
    const names = beta.literals("BetaServerToolUseBlock", "name")
    assert.sameMembers(Object.keys(ServerBlocks.definedAs), [...names])
    const defined = new Set(Object.values(ServerBlocks.resultOf).flat())
    assert.sameMembers([...defined], [...new Set(Object.values(ServerBlocks.definedAs))])
  })

  it("type of error without a reason", () => {
    assert.includeMembers(Object.keys(ApiError.kinds), [...shared.literals("ErrorType")])
  })

  it("tool that is neither generally available, nor sent with its beta, nor refused", () => {
    const available = general.literals("ToolUnion", "type")
    const known = [
      ...available,
      ...Object.keys(ToolDefinitions.betas),
      ...Object.keys(ToolDefinitions.unsupported),
      "custom"
    ]
    for (const type of beta.literals("BetaToolUnion", "type")) assert.include(known, type)
  })

  it("beta that is not one of those that are sent", () => {
    const listed = betas.literals("AnthropicBeta")
    for (const name of Object.values(ToolDefinitions.betas)) assert.include(listed, name)
  })

  it("version of a server tool that has no definition", () => {
    const versions = Object.values(serverTools).map((tool) => ToolDefinitions.versionOf(tool))
    const listed = beta
      .literals("BetaToolUnion", "type")
      // Each search tool has a name without its version as well.
      .filter((type) => /^(web_|code_|tool_search_|advisor_).*\d{8}$/.test(type))
    assert.sameMembers(versions, [...listed])
  })

  it("version of a tool that the client runs that has no definition", () => {
    const versions = Object.values(clientTools).map((tool) => ToolDefinitions.versionOf(tool))
    const listed = beta
      .literals("BetaToolUnion", "type")
      .filter((type) => /^(memory|text_editor|bash|computer)_\d{8}$/.test(type))
    assert.sameMembers(versions, [...listed])
  })
})

const clientTools: Readonly<Record<string, Tool.AnyProviderDefined>> = Object.fromEntries(
  Object.entries(AnthropicTools)
    .filter(([name]) => !(name in ServerTools))
    .map(([name, define]) => [name, define({ displayWidth: 1024, displayHeight: 768 } as never) as never])
)

describe("tools that the client runs", () => {
  it("take the fields that are annotated", () => {
    const tool = AnthropicTools.TextEditor_20250728({ maxCharacters: 5 }).annotate(ToolOptions, {
      cache_control: { type: "ephemeral" }
    })
    assert.deepStrictEqual(Result.getOrThrow(ToolDefinitions.makeEncoder()(tool)), {
      type: "text_editor_20250728",
      name: "str_replace_based_edit_tool",
      max_characters: 5,
      cache_control: { type: "ephemeral" }
    } as never)
    assert.isFunction(tool.needsApproval)
  })

  it.each(Object.entries(clientTools))("%s can be offered, and its schemas are of JSON", (_, tool) => {
    const encoded = ToolDefinitions.makeEncoder()(tool as never)
    assert.deepInclude(Result.getOrThrow(encoded), {
      type: ToolDefinitions.versionOf(tool),
      name: tool.providerName
    } as never)
    for (const schema of [tool.parametersSchema, tool.successSchema, tool.failureSchema, tool.argsSchema]) {
      assert.isObject(Schema.toJsonSchemaDocument(schema).schema)
      assert.isObject(toCodecAnthropic(schema as never).jsonSchema)
    }
  })
})

const serverTools: Readonly<Record<string, Tool.AnyProviderDefined>> = Object.fromEntries(
  Object.entries(ServerTools).map(([name, define]) => [name, define({ model: "claude" } as never) as never])
)

describe("server tools", () => {
  it.each(Object.entries(serverTools))("%s can be offered, and its schemas are of JSON", (_, tool) => {
    const name = ToolDefinitions.versionOf(tool)?.replace(/_\d{8}$/, "")
    assert.strictEqual(tool.providerName, name)
    assert.deepStrictEqual(
      ToolDefinitions.makeEncoder()(tool as never),
      Result.succeed({
        type: ToolDefinitions.versionOf(tool),
        name,
        model: "claude"
      } as never)
    )
    assert.isTrue(Result.isSuccess(ToolSchema.inputSchema(tool as never)))
    for (const schema of [tool.successSchema, tool.failureSchema, tool.argsSchema]) {
      assert.isObject(Schema.toJsonSchemaDocument(schema).schema)
    }
  })
})
