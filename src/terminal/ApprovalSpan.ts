/**
 * What is shown of a span that stands for an approval: it lasts from the asking to the decision, and says what was decided, and by whom.
 */
import type * as Tracer from "effect/Tracer"
import {
  ATTR_GEN_AI_TOOL_CALL_ID,
  ATTR_GEN_AI_TOOL_NAME,
  ATTR_TOOLSPAN_APPROVAL_APPROVER,
  ATTR_TOOLSPAN_APPROVAL_DECISION,
  ATTR_TOOLSPAN_APPROVAL_ID,
  ATTR_TOOLSPAN_APPROVAL_REASON,
  SPAN_TOOL_APPROVAL
} from "../semconv/Attributes.ts"
import * as ShortText from "./ShortText.ts"
import type { State } from "./State.ts"

/** What is shown of an approval. */
export interface Approval {
  readonly toolName: string | undefined
  readonly callId: string | undefined
  readonly approvalId: string | undefined
  /** As the span says it: `approved`, `denied`, `expired`, or a word that is not known here. */
  readonly decision: string | undefined
  readonly approver: string | undefined
  readonly reason: string | undefined
}

/** The approval that the span stands for, as it is known now; undefined if it stands for something else. */
export const read = ({ attributes, name }: Tracer.Span): Approval | undefined => {
  if (name !== SPAN_TOOL_APPROVAL && !name.startsWith(`${SPAN_TOOL_APPROVAL} `)) return undefined
  const text = (key: string) => ShortText.of(attributes.get(key))
  return {
    toolName: text(ATTR_GEN_AI_TOOL_NAME) ?? ShortText.of(name.slice(SPAN_TOOL_APPROVAL.length + 1)),
    callId: text(ATTR_GEN_AI_TOOL_CALL_ID),
    approvalId: text(ATTR_TOOLSPAN_APPROVAL_ID),
    decision: text(ATTR_TOOLSPAN_APPROVAL_DECISION),
    approver: text(ATTR_TOOLSPAN_APPROVAL_APPROVER),
    reason: text(ATTR_TOOLSPAN_APPROVAL_REASON)
  }
}

/** What the decision says of how the span ended. A no is no error, whoever or whatever said it. */
export const stateOf = ({ decision }: Approval): State | undefined =>
  decision === "approved" ? "success" : decision === "denied" || decision === "expired" ? "denied" : undefined

/** The decision in words: `denied by ada: too expensive`. */
export const inWords = ({ approver, decision, reason }: Approval): string | undefined =>
  decision === undefined
    ? undefined
    : decision +
      (approver === undefined ? "" : ` by ${approver}`) +
      (reason === undefined ? "" : `: ${reason}`)
