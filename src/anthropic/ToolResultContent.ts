/**
 * What a tool answered, as content of a `tool_result`: a string as text; an image as `{ type: "image", mediaType, data }`, with base64 data,
 * or an array of such images and `{ type: "text", text }`; the tool's own `toModelOutput`, if it has one; anything else as JSON.
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import type * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as FileBlocks from "./FileBlocks.ts"

type Content = NonNullable<Wire.BetaToolResultBlockParam["content"]>
type Block = Wire.BetaTextBlockParam | Wire.BetaImageBlockParam | Wire.BetaRequestDocumentBlock

export const encode = (
  part: Prompt.ToolResultPart
): Result.Result<Content | undefined, AiError.InvalidUserInputError> => {
  if (part.modelOutput !== undefined) return fromModelOutput(part.modelOutput)
  const { result } = part
  if (result === undefined || result === null) return Result.succeed(undefined)
  if (typeof result === "string") return Result.succeed(result)
  const blocks = Array.isArray(result) ? result.map(block) : [block(result)]
  if (blocks.length === 0 || !blocks.every(Predicate.isNotUndefined))
    return Result.succeed(JSON.stringify(result))
  return Result.succeed(withoutBlanks(blocks))
}

/** The API refuses text that is empty or blank. */
const withoutBlanks = (blocks: ReadonlyArray<Block>): Content | undefined => {
  const content = blocks.filter((block) => block.type !== "text" || block.text.trim() !== "")
  return content.length === 0 ? undefined : content
}

const fromModelOutput = (
  parts: ReadonlyArray<Prompt.ToolModelOutputPart>
): Result.Result<Content | undefined, AiError.InvalidUserInputError> => {
  const blocks: Array<Block> = []
  for (const part of parts) {
    if (part.type === "text") {
      blocks.push({ type: "text", text: part.text })
      continue
    }
    const file = FileBlocks.encode(part)
    if (Result.isFailure(file)) return Result.fail(file.failure)
    blocks.push(file.success)
  }
  return Result.succeed(withoutBlanks(blocks))
}

const block = (value: unknown): Wire.BetaTextBlockParam | Wire.BetaImageBlockParam | undefined => {
  if (!Predicate.isObject(value) || !Predicate.hasProperty(value, "type")) return undefined
  if (value.type === "text" && Predicate.hasProperty(value, "text") && Predicate.isString(value.text)) {
    return Object.keys(value).length === 2 ? { type: "text", text: value.text } : undefined
  }
  if (
    value.type !== "image" ||
    !Predicate.hasProperty(value, "data") ||
    !Predicate.isString(value.data) ||
    !Predicate.hasProperty(value, "mediaType") ||
    !Predicate.isString(value.mediaType)
  ) {
    return undefined
  }
  const media_type = FileBlocks.imageType(value.mediaType, value.data)
  if (media_type === undefined) {
    // Neither the bytes as text nor a request that fails for ever would help the model.
    return {
      type: "text",
      text: `[An image of type ${value.mediaType} is left out: images are JPEG, PNG, GIF or WebP]`
    }
  }
  return { type: "image", source: { type: "base64", media_type, data: value.data } }
}
