/**
 * What the parts of prompts and responses carry under the key `anthropic`: options of a request, and what a later request has to send
 * back as it came (signatures of thinking, citations, the names that server tools have on the wire).
 */
import type { MutableJson } from "effect/Schema"

export type JsonObject = { [key: string]: MutableJson }

/** A piece of an answer, as metadata. It was parsed from JSON, which the SDK's types do not say. */
export const fromWire = (piece: object): JsonObject => piece as JsonObject

/** A prompt cache breakpoint after the part, or after the last part of the message. `ttl` defaults to `"5m"`. */
export type CacheControl = { readonly type: "ephemeral"; readonly ttl?: "5m" | "1h" }

/** Which block a reasoning part stands for. The signature, or the encrypted data, is checked by the API when it comes back. */
export type Thinking =
  | { readonly type: "thinking"; readonly signature: string }
  | { readonly type: "redacted_thinking"; readonly data: string }

type Cached = { readonly cacheControl?: CacheControl }

type TextFields = Cached & {
  /** Citations of the text, as on the wire. */
  readonly citations?: ReadonlyArray<JsonObject>
  /**
   * A block that effect/ai has no part for, as on the wire. The text of the part is empty; the block is sent instead of it. So travel
   * compaction, container uploads, fallback markers and the blocks of the MCP connector.
   */
  readonly block?: JsonObject
}

type ReasoningFields = { readonly info?: Thinking }

type FileFields = Cached & {
  /** Shown to the model as the title of the document. Default: the file name. */
  readonly documentTitle?: string
  /** Further text about the document that the model does not cite. */
  readonly documentContext?: string
  readonly citations?: { readonly enabled: boolean }
  /** A file of the Files API; `data` of the part is not sent. */
  readonly fileId?: string
}

type ToolCallFields = Cached & {
  /** The tool's name on the wire. */
  readonly name?: string
  /** Who made the call, if not the model itself: code in the code execution tool. */
  readonly caller?: JsonObject
}

type ToolResultFields = Cached & {
  /** The type of the block that the result of a server tool came in. */
  readonly blockType?: string
  readonly caller?: JsonObject
}

/** What the API says about a message besides effect/ai's own fields, as on the wire. */
export type Finish = {
  readonly stopReason: string | null
  readonly stopSequence?: string
  readonly stopDetails?: JsonObject
  readonly usage: JsonObject
  readonly container?: JsonObject
  readonly contextManagement?: JsonObject
  readonly diagnostics?: JsonObject
  readonly inputTransformations?: ReadonlyArray<MutableJson>
}

/** What the API says about an error. `errorCode` names its cause, where it has one. */
export type ErrorInfo = {
  readonly errorType: string | null
  readonly errorCode: string | null
  readonly requestId: string | null
}

declare module "effect/ai/Prompt" {
  export interface SystemMessageOptions {
    readonly anthropic?: Cached | null
  }
  export interface UserMessageOptions {
    readonly anthropic?: Cached | null
  }
  export interface AssistantMessageOptions {
    readonly anthropic?: Cached | null
  }
  export interface ToolMessageOptions {
    readonly anthropic?: Cached | null
  }
  export interface TextPartOptions {
    readonly anthropic?: TextFields | null
  }
  export interface ReasoningPartOptions {
    readonly anthropic?: ReasoningFields | null
  }
  export interface FilePartOptions {
    readonly anthropic?: FileFields | null
  }
  export interface ToolCallPartOptions {
    readonly anthropic?: ToolCallFields | null
  }
  export interface ToolResultPartOptions {
    readonly anthropic?: ToolResultFields | null
  }
}

declare module "effect/ai/Response" {
  export interface TextPartMetadata {
    readonly anthropic?: TextFields | null
  }
  export interface TextStartPartMetadata {
    readonly anthropic?: TextFields | null
  }
  export interface TextEndPartMetadata {
    readonly anthropic?: TextFields | null
  }
  export interface ReasoningPartMetadata {
    readonly anthropic?: ReasoningFields | null
  }
  export interface ReasoningStartPartMetadata {
    readonly anthropic?: ReasoningFields | null
  }
  export interface ReasoningEndPartMetadata {
    readonly anthropic?: ReasoningFields | null
  }
  export interface ToolCallPartMetadata {
    readonly anthropic?: ToolCallFields | null
  }
  export interface ToolResultPartMetadata {
    readonly anthropic?: ToolResultFields | null
  }
  export interface UrlSourcePartMetadata {
    /** The citation that named the source, as on the wire. */
    readonly anthropic?: JsonObject | null
  }
  export interface DocumentSourcePartMetadata {
    /** The citation that named the source, as on the wire. */
    readonly anthropic?: JsonObject | null
  }
  export interface ResponseMetadataPartMetadata {
    readonly anthropic?: { readonly requestId: string | null } | null
  }
  export interface FinishPartMetadata {
    readonly anthropic?: Finish | null
  }
}

declare module "effect/ai/AiError" {
  export interface RateLimitErrorMetadata {
    readonly anthropic?: ErrorInfo | null
  }
  export interface QuotaExhaustedErrorMetadata {
    readonly anthropic?: ErrorInfo | null
  }
  export interface AuthenticationErrorMetadata {
    readonly anthropic?: ErrorInfo | null
  }
  export interface InvalidRequestErrorMetadata {
    readonly anthropic?: ErrorInfo | null
  }
  export interface InternalProviderErrorMetadata {
    readonly anthropic?: ErrorInfo | null
  }
  export interface UnknownErrorMetadata {
    readonly anthropic?: ErrorInfo | null
  }
}
