/**
 * Files of a prompt as blocks: images, and documents, which are PDF or text. The data is in the request as base64, or behind a URL that the
 * API reads, or a file of the Files API (option `fileId`).
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import * as AiError from "effect/ai/AiError"
import type * as Prompt from "effect/ai/Prompt"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"

type Block = Wire.BetaImageBlockParam | Wire.BetaRequestDocumentBlock
type ImageType = Wire.BetaBase64ImageSource["media_type"]

/** The header `anthropic-beta` that files of the Files API need. */
export const filesBeta = "files-api-2025-04-14"

export const encode = (file: Prompt.FilePart): Result.Result<Block, AiError.InvalidUserInputError> => {
  const options = file.options.anthropic ?? {}
  const mediaType = file.mediaType.toLowerCase()
  const { fileId } = options
  if (mediaType.startsWith("image/")) {
    if (fileId !== undefined)
      return Result.succeed({ type: "image", source: { type: "file", file_id: fileId } })
    const source = sourceOf(file)
    if (source.type === "url") return Result.succeed({ type: "image", source })
    const media_type = imageType(mediaType, source.data)
    if (media_type === undefined) {
      return refused(file, "images are JPEG, PNG, GIF or WebP; convert it")
    }
    return Result.succeed({ type: "image", source: { type: "base64", media_type, data: source.data } })
  }
  const title = options.documentTitle ?? file.fileName
  return Result.map(documentSource(file, mediaType, fileId), (source) => ({
    type: "document",
    source,
    ...(title === undefined ? undefined : { title }),
    ...(options.documentContext === undefined ? undefined : { context: options.documentContext }),
    ...(options.citations === undefined ? undefined : { citations: options.citations })
  }))
}

const documentSource = (
  file: Prompt.FilePart,
  mediaType: string,
  fileId: string | undefined
): Result.Result<Wire.BetaRequestDocumentBlock["source"], AiError.InvalidUserInputError> => {
  if (fileId !== undefined) return Result.succeed({ type: "file", file_id: fileId })
  const source = sourceOf(file)
  if (mediaType === "application/pdf") {
    return Result.succeed(
      source.type === "url" ? source : { type: "base64", media_type: "application/pdf", data: source.data }
    )
  }
  if (!mediaType.startsWith("text/") && mediaType !== "application/json") {
    return refused(file, "files are images, PDF or text; convert it, or upload it and give its `fileId`")
  }
  if (source.type === "url")
    return refused(file, "only images and PDF may be behind a URL; send the text itself")
  const data = Base64.decodeString(source.data)
  // Some text is base64 by chance, so text that is not would be no rule to go by.
  if (Result.isFailure(data))
    return refused(file, "a string is base64; give text as bytes, or as a `data:` URL")
  return Result.succeed({ type: "text", media_type: "text/plain", data: data.success })
}

/** Also used for images that a tool answers with. */
export const imageType = (mediaType: string, base64: string): ImageType | undefined => {
  if (mediaType === "image/*") return signatures.find(([start]) => base64.startsWith(start))?.[1]
  if (mediaType === "image/jpg") return "image/jpeg"
  return signatures.find(([, type]) => type === mediaType)?.[1]
}

/** How the base64 of each type of image begins. */
const signatures: ReadonlyArray<readonly [start: string, type: ImageType]> = [
  ["/9j/", "image/jpeg"],
  ["iVBORw0KGgo", "image/png"],
  ["R0lGOD", "image/gif"],
  ["UklGR", "image/webp"]
]

type Source =
  | { readonly type: "url"; readonly url: string }
  | { readonly type: "base64"; readonly data: string }

const sourceOf = ({ data }: Prompt.FilePart): Source => {
  if (data instanceof URL) return fromText(data.href)
  return typeof data === "string" ? fromText(data) : { type: "base64", data: Base64.encode(data) }
}

const fromText = (text: string): Source => {
  if (/^https?:\/\//i.test(text)) return { type: "url", url: text }
  const comma = text.indexOf(",")
  if (!/^data:/i.test(text) || comma < 0) return { type: "base64", data: text }
  const payload = text.slice(comma + 1)
  return {
    type: "base64",
    data: /;base64$/i.test(text.slice(0, comma)) ? payload : Base64.encode(decodeURIComponent(payload))
  }
}

const refused = (file: Prompt.FilePart, what: string) => {
  const name = file.fileName === undefined ? "A file" : `The file ${JSON.stringify(file.fileName)}`
  return Result.fail(
    new AiError.InvalidUserInputError({
      description: `${name} of type ${JSON.stringify(file.mediaType)} cannot be sent to Anthropic: ${what}`
    })
  )
}
