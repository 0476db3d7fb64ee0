/**
 * A worker of the crash tests: works until it is killed. `worker.ts URL ENGINE PORT LEDGER DIE`, where DIE is how likely it is to die at each
 * point that it passes.
 */
import * as fs from "node:fs"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Clerk from "../Clerk.ts"
import * as Stores from "../Stores.ts"

const [url = "", engine = "", port = "", ledger = "", die = "0"] = process.argv.slice(2)

const file = fs.openSync(ledger, "a")

const world: Clerk.World = {
  // One write of a line to a file that is opened to append: whole, and in its order, whoever else writes.
  write: (line) => Effect.sync(() => void fs.writeSync(file, `${line}\n`)),
  pass: (point) =>
    Effect.sync(() => {
      if (Math.random() >= Number(die)) return
      fs.writeSync(file, `died ${point}\n`)
      process.kill(process.pid, "SIGKILL")
    })
}

const worker = Clerk.agent.layer.pipe(
  Layer.provide(Layer.merge(Clerk.model(world), Clerk.handlers(world))),
  Layer.provide(Stores.runtime(url, engine, Number(port))),
  Layer.tap(() => Effect.sync(() => console.log("works")))
)

NodeRuntime.runMain(Layer.launch(worker))
