/**
 * What the doctor found in one place, in plain words.
 */
export interface Finding {
  readonly ok: boolean
  /** What was seen. */
  readonly seen: string
  /** What to do about it; undefined where nothing is to be done. */
  readonly todo?: string | undefined
}

export const good = (seen: string): Finding => ({ ok: true, seen })

export const bad = (seen: string, todo: string): Finding => ({ ok: false, seen, todo })

export const render = ({ ok, seen, todo }: Finding): string =>
  `${ok ? "✓" : "✗"} ${seen}${todo === undefined ? "" : `\n  → ${todo}`}`
