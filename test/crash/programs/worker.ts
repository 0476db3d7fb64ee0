/**
 * A worker of the crash tests: works until it is killed. `worker.ts URL ENGINE PORT LEDGER DIE`: DIE is `die` if it is to die at points that it
 * passes, now and then.
 */
import * as fs from "node:fs"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Clerk from "../Clerk.ts"
import * as Points from "../Points.ts"
import * as Stores from "../Stores.ts"

const [url = "", engine = "", port = "", ledger = "", die] = process.argv.slice(2)

const file = fs.openSync(ledger, "a")

const world: Clerk.World = {
  // One write of a line to a file that is opened to append: whole, and in its order, whoever else writes.
  write: (line) => Effect.sync(() => void fs.writeSync(file, `${line}\n`)),
  pass: (point) =>
    Effect.sync(() => {
      if (die !== "die" || Math.random() >= Points.points[point]) return
      fs.writeSync(file, `died ${point}\n`)
      process.kill(process.pid, "SIGKILL")
    })
}

const worker = Clerk.agent.layer.pipe(
  Layer.provide(Layer.merge(Clerk.model, Clerk.handlers)),
  Layer.provide(Stores.runtime(url, engine, Number(port), world.pass)),
  Layer.provide(Layer.succeed(Clerk.World)(world)),
  Layer.tap(() => Effect.sync(() => console.log("works")))
)

NodeRuntime.runMain(Layer.launch(worker))
