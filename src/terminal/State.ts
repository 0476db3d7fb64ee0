/**
 * How a span ended, in the ways that are told apart at a glance: each has a mark and a colour.
 */
import type { Style } from "./StyledLine.ts"

/** `denied`: an approval that was not given, which is no error. `unfinished`: the span has not ended. */
export type State = "success" | "failed" | "cancelled" | "denied" | "abandoned" | "unfinished"

export const marks: Readonly<Record<State, string>> = {
  success: "✓",
  failed: "✗",
  cancelled: "⊘",
  denied: "⊘",
  abandoned: "…",
  unfinished: "…"
}

export const styles: Readonly<Record<State, Style>> = {
  success: "success",
  failed: "failed",
  cancelled: "warning",
  denied: "warning",
  abandoned: "warning",
  unfinished: "running"
}
