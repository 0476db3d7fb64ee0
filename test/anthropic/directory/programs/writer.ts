/** Writes a large file again and again, each time with another letter: `writer.ts DIRECTORY`. */
import * as Effect from "effect/Effect"
import * as MemoryHandler from "../../../../src/anthropic/directory/MemoryHandler.ts"

const [directory = ""] = process.argv.slice(2)
const { AnthropicMemory } = MemoryHandler.make({ directory })
const path = "/memories/big.txt"

const current = Effect.map(AnthropicMemory({ command: "view", path, view_range: [1, 1] }), (text) =>
  text.split("\t")[1]?.slice(0, 1)
)

const rewrite = Effect.gen(function* () {
  const letter = (yield* current) ?? "a"
  const next = letter === "z" ? "a" : String.fromCharCode(letter.charCodeAt(0) + 1)
  yield* AnthropicMemory({
    command: "str_replace",
    path,
    old_str: letter.repeat(500_000),
    new_str: next.repeat(500_000)
  })
})

await Effect.runPromise(rewrite)
process.stdout.write("writes\n")
await Effect.runPromise(Effect.forever(rewrite))
