/**
 * Holds the write lock of a file until it gets a line of input. Knows nothing of the client. Argument: file.
 */
import { once } from "node:events"
import { DatabaseSync } from "node:sqlite"

const [file = ""] = process.argv.slice(2)
const db = new DatabaseSync(file)
db.exec("BEGIN IMMEDIATE")
console.log("locked")
await once(process.stdin, "data")
db.exec("COMMIT")
console.log("released")
process.stdin.destroy()
