/**
 * A prompt as the API takes it: the system prompt, and turns of user and assistant that alternate.
 *
 * The results of the calls of a turn stand at the head of the one user turn after it, in the order of the history, wherever the history has
 * them: after an approval, they come after text of the assistant that was written later. Reasoning that carries no signature of Anthropic's,
 * and calls that another provider ran itself, are left out: the API has no way to take them.
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as FileBlocks from "./FileBlocks.ts"
import type { CacheControl, JsonObject } from "./ProviderMetadata.ts"
import * as ServerBlocks from "./ServerBlocks.ts"
import type { ToolNames } from "./ToolNames.ts"
import * as ToolResultContent from "./ToolResultContent.ts"

export interface EncodedPrompt {
  readonly system: ReadonlyArray<Wire.BetaTextBlockParam>
  readonly messages: ReadonlyArray<Wire.BetaMessageParam>
  /** The betas that what the prompt holds needs. */
  readonly betas: ReadonlySet<string>
}

export const encode = (
  prompt: Prompt.Prompt,
  names: ToolNames
): Result.Result<EncodedPrompt, AiError.InvalidUserInputError> => new Encoder(prompt, names).encode()

type Block = Wire.BetaContentBlockParam

interface Turn {
  readonly role: "user" | "assistant" | "system"
  readonly blocks: Array<Block>
  /** Calls that wait for their results. */
  readonly calls: Array<string>
}

interface Answer {
  readonly part: Prompt.ToolResultPart
  readonly cacheControl: CacheControl | undefined
}

class Encoder {
  readonly #prompt: Prompt.Prompt
  readonly #names: ToolNames
  readonly #results = new Map<string, Answer>()
  readonly #answered = new Set<string>()
  readonly #turns: Array<Turn> = []
  readonly #system: Array<Wire.BetaTextBlockParam> = []
  readonly #betas = new Set<string>()
  #failure: AiError.InvalidUserInputError | undefined

  constructor(prompt: Prompt.Prompt, names: ToolNames) {
    this.#prompt = prompt
    this.#names = names
    for (const message of prompt.content) {
      if (message.role !== "tool" && message.role !== "assistant") continue
      const results = [...message.content].filter(
        (part) => part.type === "tool-result" && !part.providerExecuted
      )
      for (const part of results) {
        if (part.type !== "tool-result" || this.#results.has(part.id)) continue
        const ofMessage =
          message.role === "tool" && part === results.at(-1)
            ? message.options.anthropic?.cacheControl
            : undefined
        this.#results.set(part.id, { part, cacheControl: part.options.anthropic?.cacheControl ?? ofMessage })
      }
    }
  }

  encode(): Result.Result<EncodedPrompt, AiError.InvalidUserInputError> {
    for (const message of this.#prompt.content) {
      this.#message(message)
      if (this.#failure !== undefined) return Result.fail(this.#failure)
    }
    this.#answer()
    if (this.#failure !== undefined) return Result.fail(this.#failure)
    trimEnd(this.#turns.at(-1))
    return Result.succeed({
      system: this.#system,
      // A system message holds text alone, and nothing else is put into one.
      messages: this.#turns.map(({ blocks, role }) => ({ role, content: blocks }) as Wire.BetaMessageParam),
      betas: this.#betas
    })
  }

  #message(message: Prompt.Message): void {
    switch (message.role) {
      case "system": {
        const block = text(message.content)
        if (block === undefined) return
        cache(block, message.options.anthropic?.cacheControl)
        if (this.#turns.length === 0) this.#system.push(block)
        else this.#turn("system").blocks.push(block)
        return
      }
      case "user": {
        const blocks = message.content.flatMap((part) => this.#userPart(part) ?? [])
        if (blocks.length === 0) return
        cache(blocks.at(-1), message.options.anthropic?.cacheControl)
        this.#turn("user").blocks.push(...blocks)
        return
      }
      case "assistant": {
        const blocks = message.content.flatMap((part) => this.#assistantPart(part) ?? [])
        if (blocks.length === 0) return
        cache(blocks.at(-1), message.options.anthropic?.cacheControl)
        this.#answer()
        const turn = this.#turn("assistant")
        turn.blocks.push(...blocks)
        for (const part of message.content) {
          if (part.type === "tool-call" && !part.providerExecuted) turn.calls.push(part.id)
        }
        return
      }
      case "tool":
        this.#answer()
        for (const part of message.content) {
          const answer = part.type === "tool-result" ? this.#results.get(part.id) : undefined
          if (answer !== undefined) this.#result(answer)
        }
    }
  }

  /** The turn that the next blocks of this role belong to. */
  #turn(role: Turn["role"]): Turn {
    if (role !== "assistant") this.#answer()
    const last = this.#turns.at(-1)
    if (last?.role === role) return last
    const turn: Turn = { role, blocks: [], calls: [] }
    this.#turns.push(turn)
    return turn
  }

  /** Puts the results of the last turn's calls after it, where the history has them. */
  #answer(): void {
    const last = this.#turns.at(-1)
    if (last?.role !== "assistant") return
    const calls = new Set(last.calls.splice(0))
    for (const [id, answer] of this.#results) {
      if (calls.has(id)) this.#result(answer)
    }
  }

  #result({ cacheControl, part }: Answer): void {
    if (this.#answered.has(part.id)) return
    this.#answered.add(part.id)
    const content = this.#checked(ToolResultContent.encode(part))
    const block: Wire.BetaToolResultBlockParam = {
      type: "tool_result",
      tool_use_id: wireId(part.id),
      ...(content === undefined ? undefined : { content }),
      ...(part.isFailure ? { is_error: true } : undefined)
    }
    cache(block, cacheControl)
    this.#turn("user").blocks.push(block)
  }

  #userPart(part: Prompt.UserMessagePart): Block | undefined {
    if (part.type === "text") return this.#text(part)
    const block = this.#checked(FileBlocks.encode(part))
    if (block?.source.type === "file") this.#betas.add(FileBlocks.filesBeta)
    return cache(block, part.options.anthropic?.cacheControl)
  }

  #assistantPart(part: Prompt.AssistantMessagePart): Block | undefined {
    switch (part.type) {
      case "text":
        return this.#text(part)
      case "reasoning": {
        const info = part.options.anthropic?.info
        if (info?.type === "thinking")
          return { type: "thinking", thinking: part.text, signature: info.signature }
        return info === undefined ? undefined : { type: "redacted_thinking", data: info.data }
      }
      case "tool-call":
        return cache(this.#call(part), part.options.anthropic?.cacheControl)
      case "tool-result":
        // One of the client stands after its turn.
        if (!part.providerExecuted) return undefined
        return cache(this.#serverResult(part), part.options.anthropic?.cacheControl)
      case "file":
        this.#failure ??= new AiError.InvalidUserInputError({
          description: `A file of type "${part.mediaType}" stands in a message of the assistant, and Anthropic takes files from the user only`
        })
        return undefined
      // Whether a call may run is settled before the model hears of it.
      case "tool-approval-request":
        return undefined
    }
  }

  #text(part: Prompt.TextPart): Block | undefined {
    const { block, cacheControl, citations } = part.options.anthropic ?? {}
    // As it came from the API, or as the caller wrote it.
    if (block !== undefined) return cache({ ...block } as unknown as Block, cacheControl)
    const encoded = text(part.text)
    if (encoded !== undefined && citations !== undefined && citations.length > 0) {
      // They were the API's own, and go back as they came.
      encoded.citations = citations.map(withoutFile) as unknown as Array<Wire.BetaTextCitationParam>
    }
    return cache(encoded, cacheControl)
  }

  #call(
    part: Prompt.ToolCallPart
  ): Wire.BetaToolUseBlockParam | Wire.BetaServerToolUseBlockParam | undefined {
    const name = part.options.anthropic?.name ?? this.#names.toWire(part.name)
    const caller = part.options.anthropic?.caller as Wire.BetaToolUseCaller | undefined
    const rest = {
      id: wireId(part.id),
      input: input(part.params),
      ...(caller === undefined ? undefined : { caller })
    }
    if (!part.providerExecuted) return { type: "tool_use", name, ...rest }
    return ServerBlocks.isServerToolName(name) ? { type: "server_tool_use", name, ...rest } : undefined
  }

  #serverResult(part: Prompt.ToolResultPart): Block | undefined {
    const { blockType, caller } = part.options.anthropic ?? {}
    const type = blockType ?? ServerBlocks.resultTypeOf(this.#names.toWire(part.name))
    if (type === undefined) return undefined
    // What the API said, in the block that it said it in.
    return {
      type,
      tool_use_id: wireId(part.id),
      content: part.result,
      ...(caller === undefined ? undefined : { caller })
    } as unknown as Block
  }

  #checked<A>(result: Result.Result<A, AiError.InvalidUserInputError>): A | undefined {
    if (Result.isSuccess(result)) return result.success
    this.#failure ??= result.failure
    return undefined
  }
}

/** The API refuses text that is empty or blank, and models do write such. */
const text = (value: string): Wire.BetaTextBlockParam | undefined =>
  value.trim() === "" ? undefined : { type: "text", text: value }

/** Sets a cache breakpoint on a block that can have one and has none. */
const cache = <B extends Block | undefined>(block: B, cacheControl: CacheControl | undefined): B => {
  if (block === undefined || cacheControl === undefined) return block
  if (block.type === "thinking" || block.type === "redacted_thinking") return block
  if (!("cache_control" in block)) Object.assign(block, { cache_control: cacheControl })
  return block
}

/** The API refuses a last turn of the assistant that ends in white space. */
const trimEnd = (turn: Turn | undefined): void => {
  const block = turn?.role === "assistant" ? turn.blocks.at(-1) : undefined
  if (block?.type === "text") block.text = block.text.trimEnd()
}

/** Other providers' ids have characters that the API refuses. */
const wireId = (id: string): string => id.replace(/[^a-zA-Z0-9_-]/g, "_")

/** The input of a call is an object. A call whose input was no JSON is sent back as the API's documentation says. */
const input = (params: unknown): unknown => {
  if (params === undefined || params === null) return {}
  if (Predicate.isObject(params) && !Array.isArray(params)) return params
  return { INVALID_JSON: typeof params === "string" ? params : JSON.stringify(params) }
}

/** The API names the file of a citation, and refuses the name when it comes back. */
const withoutFile = ({ file_id: _, ...citation }: JsonObject): JsonObject => citation
