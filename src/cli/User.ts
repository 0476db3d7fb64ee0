/**
 * Who uses the command, as the machine knows them.
 */
import { userInfo } from "node:os"

/** The name of the user; undefined where the machine has none for them. */
export const name = (): string | undefined => {
  try {
    return userInfo().username || undefined
  } catch {
    return undefined
  }
}
