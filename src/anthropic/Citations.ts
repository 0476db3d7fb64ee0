/**
 * Citations of a text as sources of the response. The text keeps them too, to be sent back with it.
 */
import type * as Wire from "@anthropic-ai/sdk/resources/beta/messages"
import type * as Response from "effect/ai/Response"
import { fromWire } from "./ProviderMetadata.ts"

type Source = Response.UrlSourcePartEncoded | Response.DocumentSourcePartEncoded

/** A kind of citation that this version does not know names no source. */
export const source = (citation: Wire.BetaTextCitation, id: string): Source | undefined => {
  const metadata = { anthropic: fromWire(citation) }
  switch (citation.type) {
    case "web_search_result_location":
      return {
        type: "source",
        sourceType: "url",
        id,
        url: citation.url,
        title: citation.title ?? citation.url,
        metadata
      }
    case "search_result_location": {
      const title = citation.title ?? citation.source
      return { type: "source", sourceType: "document", id, mediaType: "text/plain", title, metadata }
    }
    case "page_location":
      return document(citation, "application/pdf", id, metadata)
    case "char_location":
    case "content_block_location":
      return document(citation, "text/plain", id, metadata)
    default:
      return undefined
  }
}

const document = (
  citation: Pick<Wire.BetaCitationCharLocation, "document_index" | "document_title">,
  mediaType: string,
  id: string,
  metadata: Response.DocumentSourcePartMetadata
): Source => ({
  type: "source",
  sourceType: "document",
  id,
  mediaType,
  title: citation.document_title ?? `Document ${citation.document_index + 1}`,
  metadata
})
