/**
 * Keys as a model names them, as xdotool takes them: nothing that a program could take for an option or for more than a key.
 */
import { badAction, type ComputerError } from "./ComputerError.ts"

/** What models say for keys that X has another name for. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ["enter", "Return"],
  ["return", "Return"],
  ["esc", "Escape"],
  ["escape", "Escape"],
  ["del", "Delete"],
  ["delete", "Delete"],
  ["backspace", "BackSpace"],
  ["tab", "Tab"],
  ["space", "space"],
  ["up", "Up"],
  ["down", "Down"],
  ["left", "Left"],
  ["right", "Right"],
  ["arrowup", "Up"],
  ["arrowdown", "Down"],
  ["arrowleft", "Left"],
  ["arrowright", "Right"],
  ["home", "Home"],
  ["end", "End"],
  ["pageup", "Page_Up"],
  ["page_up", "Page_Up"],
  ["pagedown", "Page_Down"],
  ["page_down", "Page_Down"],
  ["control", "ctrl"],
  ["ctrl", "ctrl"],
  ["alt", "alt"],
  ["option", "alt"],
  ["shift", "shift"],
  ["super", "super"],
  ["cmd", "super"],
  ["command", "super"],
  ["win", "super"],
  ["windows", "super"],
  ["meta", "meta"]
])

const MAX_COMBINATIONS = 100

/** The combinations in a text, one after the other. */
export const sequence = (text: string): ReadonlyArray<string> | ComputerError => {
  const combinations = text.split(/\s+/).filter((combination) => combination !== "")
  if (combinations.length === 0 || combinations.length > MAX_COMBINATIONS) {
    return badAction(`Give 1 to ${MAX_COMBINATIONS} keys in \`text\`, by their names in X: Return, ctrl+s`)
  }
  const keys = combinations.map(combination)
  return keys.find((key) => typeof key !== "string") ?? (keys as ReadonlyArray<string>)
}

/** One combination, such as `ctrl+shift+t`. */
export const combination = (text: string): string | ComputerError => {
  // The key `+` itself: alone, or at the end.
  const parts =
    text === "+" ? ["+"] : text.endsWith("++") ? [...text.slice(0, -2).split("+"), "+"] : text.split("+")
  const keys = parts.map(key)
  return keys.every((key) => key !== undefined)
    ? keys.join("+")
    : badAction(
        `${JSON.stringify(text.slice(0, 100))} is no key: give its name in X (Return, Page_Down, F5, a), with modifiers joined by + (ctrl+s)`
      )
}

const key = (name: string): string | undefined => {
  const alias = ALIASES.get(name.toLowerCase())
  if (alias !== undefined && name.length > 1) return alias
  if (/^[A-Za-z0-9]\w{0,39}$/.test(name)) return name
  const [character, ...more] = name
  // Any other character by its number: its name in X is another.
  return character === undefined || more.length > 0 || !/^[^\p{C}\s]$/u.test(character)
    ? undefined
    : `U${character.codePointAt(0)?.toString(16).padStart(4, "0")}`
}
