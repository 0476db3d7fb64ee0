/**
 * The content of a turn on its recorded span: messages and tool definitions, in the JSON forms of the GenAI conventions, as far as the
 * content policy allows.
 *
 * Arguments and results of calls stand on the spans of the calls, which have the same ids: here they are left out. So are the bytes of
 * files. Of a conversation the latest messages are shown, as many as the cap has room for.
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import type * as Context from "effect/Context"
import type * as Tracer from "effect/Tracer"
import type * as ContentPolicy from "../content/ContentPolicy.ts"
import {
  ATTR_GEN_AI_INPUT_MESSAGES,
  ATTR_GEN_AI_OUTPUT_MESSAGES,
  ATTR_GEN_AI_SYSTEM_INSTRUCTIONS,
  ATTR_GEN_AI_TOOL_DEFINITIONS
} from "../semconv/Attributes.ts"
import { ContentWriter } from "../signals/ContentWriter.ts"
import { bounded } from "../signals/Identifier.ts"
import type { InstrumentedToolkit } from "./InstrumentedToolkit.ts"

/** A part of a message as the conventions have it. */
interface MessagePart {
  readonly type: string
  readonly [key: string]: unknown
}

export class TurnContent {
  readonly #writer: ContentWriter
  readonly #policy: ContentPolicy.Policy
  readonly #output: Array<MessagePart> = []
  /** The texts that are being streamed, by the ids of their blocks. */
  readonly #texts = new Map<string, { readonly type: "text" | "reasoning"; content: string }>()
  #room: number

  /** Whether the policy lets anything through that is said here. */
  static isCaptured({ descriptions, messages }: ContentPolicy.Policy): boolean {
    return messages !== "off" || descriptions !== "off"
  }

  constructor(span: Tracer.Span, policy: ContentPolicy.Policy, context: Context.Context<never>) {
    this.#writer = new ContentWriter(span, policy, undefined, context)
    this.#policy = policy
    this.#room = policy.maxBytes
  }

  /** What the model is given. */
  input(messages: ReadonlyArray<Prompt.Message>): void {
    if (this.#policy.messages === "off") return
    const system: Array<MessagePart> = []
    const latest: Array<{ readonly role: string; readonly parts: ReadonlyArray<MessagePart> }> = []
    let room = this.#policy.maxBytes
    for (const message of latestFirst(messages)) {
      const parts =
        message.role === "system" ? [{ type: "text", content: message.content }] : message.content.map(partOf)
      room -= parts.reduce((size, part) => size + sizeOf(part), MESSAGE_SIZE)
      if (room < 0 && latest.length > 0) break
      if (message.role === "system") system.unshift(...parts)
      else latest.unshift({ role: message.role, parts })
      if (room < 0) break
    }
    // Instructions stand at the beginning, however long the conversation is.
    const [first] = messages
    if (system.length === 0 && first?.role === "system") system.push({ type: "text", content: first.content })
    if (system.length > 0) this.#writer.attribute(ATTR_GEN_AI_SYSTEM_INSTRUCTIONS, "messages", system)
    if (latest.length > 0) this.#writer.attribute(ATTR_GEN_AI_INPUT_MESSAGES, "messages", latest)
  }

  /** The tools that the model is given. */
  tools(toolkit: InstrumentedToolkit): void {
    if (this.#policy.descriptions === "off") return
    const definitions = Object.keys(toolkit.tools).map((name) => {
      const tool = toolkit.tool(name)
      return tool.policy(this.#policy).descriptions === "off" ? { type: "function", name } : tool.definition
    })
    if (definitions.length > 0) {
      this.#writer.attribute(ATTR_GEN_AI_TOOL_DEFINITIONS, "descriptions", definitions)
    }
  }

  /** A part of the answer that is no tool call. */
  part(part: Response.AnyPart): void {
    if (this.#policy.messages === "off") return
    switch (part.type) {
      case "text":
      case "reasoning":
        this.#output.push({ type: part.type, content: part.text })
        return
      case "text-start":
        this.#begin(part.id, "text")
        return
      case "reasoning-start":
        this.#begin(part.id, "reasoning")
        return
      case "text-delta":
      case "reasoning-delta":
        // Of a long answer no more is kept than can be shown.
        if (this.#room > 0) {
          const text = this.#texts.get(part.id)
          if (text !== undefined) text.content += part.delta
          this.#room -= part.delta.length
        }
    }
  }

  /** A tool call of the answer. */
  toolCall(id: string, name: string): void {
    if (this.#policy.messages !== "off") this.#output.push(callOf(id, name))
  }

  /** The answer is complete, as far as it goes. */
  ended(): void {
    if (this.#output.length > 0) {
      this.#writer.attribute(ATTR_GEN_AI_OUTPUT_MESSAGES, "messages", [
        { role: "assistant", parts: this.#output }
      ])
    }
    this.#writer.ended()
  }

  #begin(id: string, type: "text" | "reasoning"): void {
    const text = { type, content: "" }
    this.#texts.set(id, text)
    this.#output.push(text)
  }
}

const callOf = (id: string, name: string): MessagePart => ({
  type: "tool_call",
  id: bounded(id),
  name: bounded(name)
})

const partOf = (
  part: Prompt.UserMessagePart | Prompt.AssistantMessagePart | Prompt.ToolMessagePart
): MessagePart => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, content: part.text }
    case "tool-call":
      return callOf(part.id, part.name)
    case "tool-result":
      return { type: "tool_call_response", id: bounded(part.id) }
    case "file":
      return { type: "file", modality: part.mediaType.split("/")[0], mime_type: part.mediaType }
    case "tool-approval-request":
      return { type: "tool_approval_request", id: bounded(part.approvalId) }
    case "tool-approval-response":
      return { type: "tool_approval_response", id: bounded(part.approvalId), approved: part.approved }
  }
}

/** About how long a message is in JSON, without its parts, and a part without its text: rather too long than too short. */
const MESSAGE_SIZE = 48
const PART_SIZE = 64

const sizeOf = ({ content }: MessagePart): number =>
  PART_SIZE + (typeof content === "string" ? content.length : 0)

function* latestFirst(messages: ReadonlyArray<Prompt.Message>): Generator<Prompt.Message> {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index]
    if (message !== undefined) yield message
  }
}
