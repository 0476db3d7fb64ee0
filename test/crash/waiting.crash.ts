/** What a conversation that waits costs a worker that could go on with it: nothing but its rows in Postgres. */
import { assert, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Ports from "../support/Ports.ts"
import * as Postgres from "../support/Postgres.ts"
import * as Program from "../support/Program.ts"

const COUNT = 10_000

it.live("10,000 conversations that wait hold no fibers, and no more than 2 kB of heap each", () =>
  Effect.gen(function* () {
    const { url } = yield* Postgres.start
    const port = yield* Ports.free
    const ended = yield* Program.run("test/crash/programs/host.ts", {
      args: [url, String(port), String(COUNT)]
    })
    assert.strictEqual(ended.code, 0, ended.stderr)
    const { after, before } = JSON.parse(/^{"before".*$/m.exec(ended.stdout)?.[0] ?? "")
    const bytes = (after.heap - before.heap) / COUNT
    process.stdout.write(
      `[waiting] ${COUNT} conversations: ${Math.round(bytes)} bytes of heap each, ${after.fibers - before.fibers} fibers more than ${before.fibers}\n`
    )
    assert.isAtMost(bytes, 2000)
    assert.isAtMost(after.fibers - before.fibers, 10)
  }).pipe(Effect.scoped)
)
