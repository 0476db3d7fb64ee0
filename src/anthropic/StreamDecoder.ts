/**
 * The events of a message as parts of a streamed response. Deltas of one block that arrive together are one part: whoever reads them could
 * not have had the first before the last, and each part costs its readers more than its letters do.
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import * as AiError from "effect/ai/AiError"
import type * as Response from "effect/ai/Response"
import * as Tool from "effect/ai/Tool"
import * as Result from "effect/Result"
import * as CallBlocks from "./CallBlocks.ts"
import * as Finish from "./Finish.ts"
import * as MessageDecoder from "./MessageDecoder.ts"
import * as ServerBlocks from "./ServerBlocks.ts"

type Part = Response.StreamPartEncoded

/** A block of which not everything has come. */
type Open =
  | { readonly kind: "text"; readonly id: string; readonly citations: Array<Wire.BetaTextCitation> }
  | { readonly kind: "thinking"; readonly id: string; signature: string }
  | {
      readonly kind: "call"
      readonly block: Wire.BetaToolUseBlock | Wire.BetaServerToolUseBlock
      readonly call: CallBlocks.Call
      json: string
    }
  /** A block that goes on as it came. */
  | { readonly kind: "carried"; readonly id: string; readonly block: object; json: string }
  /** One whose start was all of it. */
  | { readonly kind: "whole" }

type Delta =
  | Response.TextDeltaPartEncoded
  | Response.ReasoningDeltaPartEncoded
  | Response.ToolParamsDeltaPartEncoded

export class StreamDecoder {
  readonly #offered: CallBlocks.Offered
  readonly #received: MessageDecoder.Received
  readonly #open = new Map<number, Open>()
  /** Calls that may run only if the message was cut off, which makes effect/ai not run them. */
  readonly #held: Array<Response.ToolCallPartEncoded> = []
  #source: ReturnType<typeof MessageDecoder.sourceIds> = MessageDecoder.sourceIds("")
  #message: Wire.BetaMessage | undefined
  #delta: { readonly type: Delta["type"]; readonly id: string; delta: string } | undefined

  constructor(offered: CallBlocks.Offered, received: MessageDecoder.Received) {
    this.#offered = offered
    this.#received = received
  }

  /** What is known of the message so far, with its usage so far. */
  get message(): Wire.BetaMessage | undefined {
    return this.#message
  }

  /** A batch begins: nothing more will be appended to the one before. */
  begin(): void {
    this.#delta = undefined
  }

  /** Appends the parts of an event to a batch, or says what is wrong with it. */
  decode(event: Wire.BetaRawMessageStreamEvent, parts: Array<Part>): AiError.AiErrorReason | undefined {
    switch (event.type) {
      case "content_block_delta":
        return this.#blockDelta(event, parts)
      case "content_block_start":
        return this.#blockStart(event, parts)
      case "content_block_stop":
        return this.#blockStop(event.index, parts)
      case "message_start":
        this.#message = event.message
        this.#source = MessageDecoder.sourceIds(event.message.id)
        parts.push(MessageDecoder.responseMetadata(event.message, this.#received))
        return undefined
      case "message_delta":
        return this.#messageDelta(event, parts)
      case "message_stop":
        if (this.#message === undefined) return outOfOrder(event)
        parts.push(Finish.part(this.#message))
        return undefined
      // The API says that there may be events that a client does not know.
      default:
        return undefined
    }
  }

  #blockStart(
    { content_block: block, index }: Wire.BetaRawContentBlockStartEvent,
    parts: Array<Part>
  ): AiError.AiErrorReason | undefined {
    const id = String(index)
    this.#delta = undefined
    switch (block.type) {
      case "text":
        parts.push({ type: "text-start", id })
        this.#open.set(index, { kind: "text", id, citations: [...(block.citations ?? [])] })
        if (block.text !== "") this.#push("text-delta", id, block.text, parts)
        return undefined
      case "thinking":
        parts.push({ type: "reasoning-start", id })
        this.#open.set(index, { kind: "thinking", id, signature: block.signature })
        if (block.thinking !== "") this.#push("reasoning-delta", id, block.thinking, parts)
        return undefined
      case "redacted_thinking":
        parts.push(
          { type: "reasoning-start", id, metadata: MessageDecoder.redactedMetadata(block) },
          { type: "reasoning-end", id }
        )
        this.#open.set(index, { kind: "whole" })
        return undefined
      case "tool_use":
      case "server_tool_use": {
        const call = CallBlocks.call(block, this.#offered)
        if (Result.isFailure(call)) return call.failure
        if (call.success === undefined) {
          this.#open.set(index, { kind: "carried", id, block, json: "" })
          return undefined
        }
        parts.push({
          type: "tool-params-start",
          id: block.id,
          name: call.success.name,
          providerExecuted: block.type === "server_tool_use"
        })
        this.#open.set(index, { kind: "call", block, call: call.success, json: "" })
        return undefined
      }
      default: {
        if (ServerBlocks.isServerResult(block)) {
          const result = CallBlocks.serverResult(block, this.#offered)
          if (Result.isFailure(result)) return result.failure
          if (result.success === undefined) carry(id, block, parts)
          else parts.push(result.success)
          this.#open.set(index, { kind: "whole" })
          return undefined
        }
        if (!MessageDecoder.isCarried(block)) return MessageDecoder.unknownBlock(block)
        this.#open.set(index, { kind: "carried", id, block: { ...block }, json: "" })
        return undefined
      }
    }
  }

  #blockDelta(
    event: Wire.BetaRawContentBlockDeltaEvent,
    parts: Array<Part>
  ): AiError.AiErrorReason | undefined {
    const open = this.#open.get(event.index)
    const { delta } = event
    switch (delta.type) {
      case "text_delta":
        if (open?.kind !== "text") return outOfOrder(event)
        this.#push("text-delta", open.id, delta.text, parts)
        return undefined
      case "thinking_delta":
        if (open?.kind !== "thinking") return outOfOrder(event)
        this.#push("reasoning-delta", open.id, delta.thinking, parts)
        return undefined
      case "signature_delta":
        if (open?.kind !== "thinking") return outOfOrder(event)
        open.signature += delta.signature
        return undefined
      case "input_json_delta":
        if (open?.kind === "carried") {
          open.json += delta.partial_json
          return undefined
        }
        if (open?.kind !== "call") return outOfOrder(event)
        open.json += delta.partial_json
        this.#push("tool-params-delta", open.block.id, delta.partial_json, parts)
        return undefined
      case "citations_delta": {
        if (open?.kind !== "text") return outOfOrder(event)
        open.citations.push(delta.citation)
        const source = this.#source(delta.citation)
        if (source !== undefined) {
          this.#delta = undefined
          parts.push(source)
        }
        return undefined
      }
      case "compaction_delta": {
        if (open?.kind !== "carried") return outOfOrder(event)
        const { type: _, ...fields } = delta
        Object.assign(open.block, fields)
        return undefined
      }
      default:
        return unknownDelta(delta)
    }
  }

  #blockStop(index: number, parts: Array<Part>): AiError.AiErrorReason | undefined {
    const open = this.#open.get(index)
    this.#open.delete(index)
    this.#delta = undefined
    switch (open?.kind) {
      case "text":
        parts.push({ type: "text-end", id: open.id, metadata: MessageDecoder.textMetadata(open.citations) })
        return undefined
      case "thinking":
        parts.push({
          type: "reasoning-end",
          id: open.id,
          metadata: MessageDecoder.thinkingMetadata(open.signature)
        })
        return undefined
      case "call":
        return this.#call(open, parts)
      case "carried": {
        const input = open.json === "" ? undefined : parse(open.json)
        carry(open.id, input === undefined ? open.block : { ...open.block, input: input.value }, parts)
        return undefined
      }
      case "whole":
        return undefined
      case undefined:
        return outOfOrder({ type: "content_block_stop", index })
    }
  }

  #call(
    { block, call, json }: Extract<Open, { readonly kind: "call" }>,
    parts: Array<Part>
  ): AiError.AiErrorReason | undefined {
    parts.push({ type: "tool-params-end", id: block.id })
    // Without deltas, the start has all of the input. A tool without parameters has none.
    const input = json === "" ? { value: block.input ?? {}, isJson: true } : parse(json)
    const part = CallBlocks.toolCall(block, call, input.value)
    // What is no JSON goes on as the text that it is, and fails where its tool's parameters are checked, as the tool's failure mode says.
    if (input.isJson || this.#offered.deferred || !CallBlocks.isUnchecked(call)) parts.push(part)
    else this.#held.push(part)
    return undefined
  }

  #messageDelta(
    { context_management, delta, input_transformations, usage }: Wire.BetaRawMessageDeltaEvent,
    parts: Array<Part>
  ): AiError.AiErrorReason | undefined {
    const message = this.#message
    if (message === undefined) return outOfOrder({ type: "message_delta" })
    this.#message = {
      ...message,
      ...delta,
      container: delta.container ?? message.container,
      usage: { ...message.usage, ...withoutNulls(usage) },
      context_management: context_management ?? message.context_management,
      ...(input_transformations === undefined ? undefined : { input_transformations })
    }
    const held = this.#held.splice(0)
    const [first] = held
    if (first === undefined) return undefined
    if (delta.stop_reason === "max_tokens" || delta.stop_reason === "model_context_window_exceeded") {
      parts.push(...held)
      return undefined
    }
    return new AiError.ToolParameterValidationError({
      toolName: first.name,
      description: `The model's input is not JSON: ${JSON.stringify(first.params)}`
    })
  }

  /** Appends to the delta before, if it is of the same block and came with this one. */
  #push(type: Delta["type"], id: string, delta: string, parts: Array<Part>): void {
    const last = this.#delta
    if (last !== undefined && last.type === type && last.id === id) {
      last.delta += delta
      return
    }
    const part = { type, id, delta }
    this.#delta = part
    parts.push(part)
  }
}

const carry = (id: string, block: object, parts: Array<Part>): void => {
  parts.push(
    { type: "text-start", id, metadata: MessageDecoder.carrier(block).metadata ?? {} },
    { type: "text-end", id }
  )
}

const parse = (json: string): { readonly value: unknown; readonly isJson: boolean } => {
  try {
    return { value: Tool.unsafeSecureJsonParse(json), isJson: true }
  } catch {
    return { value: json, isJson: false }
  }
}

/** The last event of a stream does not repeat what the first has said. */
const withoutNulls = (usage: Wire.BetaMessageDeltaUsage): Partial<Wire.BetaUsage> =>
  Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null && value !== undefined))

const outOfOrder = (event: {
  readonly type: string
  readonly index?: number
}): AiError.InvalidResponseError => {
  const index = event.index === undefined ? "" : ` of block ${event.index}`
  return new AiError.InvalidResponseError({
    description: `The stream has an event ${event.type}${index} where there can be none`
  })
}

const unknownDelta = (delta: { readonly type: string }): AiError.InvalidResponseError =>
  new AiError.InvalidResponseError({
    description: `The stream has a delta of type ${JSON.stringify(delta.type)}, which this version of toolspan does not know. Update it.`
  })
