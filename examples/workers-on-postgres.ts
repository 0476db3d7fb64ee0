/**
 * One of several workers that share the runs of an agent, on Postgres: `workers-on-postgres.ts URL PORT [RUN]`. Each has a port of its own;
 * with the name of a run, it begins that, too. The work of one that dies is taken over by the others.
 */
import { NodeClusterSocket, NodeRuntime } from "@effect/platform-node"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option, Redacted, Schema } from "effect"
import { Tool, Toolkit } from "effect/ai"
import { ClusterWorkflowEngine, RunnerAddress } from "effect/cluster"
import { Agent, DurableRuntime, SqlRunStore } from "toolspan/runtime"
import { ScriptedModel } from "toolspan/testing"

const [url = "", port = "", runId] = process.argv.slice(2)

const toolkit = Toolkit.make(
  Tool.make("count", { parameters: Schema.Struct({ what: Schema.String }), success: Schema.String })
)
const handlers = toolkit.toLayer({ count: ({ what }) => Effect.succeed(`three ${what}`) })

// Stands for a real one: it calls the tool, and is content with the result.
const model = ScriptedModel.layer(({ prompt }) => [
  prompt.content.at(-1)?.role === "tool"
    ? ScriptedModel.text(`Three, says the one on ${port}.`)
    : ScriptedModel.toolCall("call_1", "count", { what: "sheep" })
])

const shepherd = Agent.make({ name: "shepherd", toolkit })

const engine = ClusterWorkflowEngine.layer.pipe(
  Layer.provide(
    NodeClusterSocket.layer({
      storage: "sql",
      shardingConfig: { runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", Number(port))) }
    })
  )
)

const runtime = DurableRuntime.layer().pipe(
  Layer.provide(DurableRuntime.untraced(engine)),
  Layer.provide(SqlRunStore.layer()),
  Layer.provide(PgClient.layer({ url: Redacted.make(url), maxConnections: 5 }))
)

// Whichever worker takes the run, this one hears how it ended.
const question = Effect.gen(function* () {
  const outcome = yield* shepherd.generate({ prompt: "How many sheep?", runId })
  console.log(outcome._tag === "Finished" ? outcome.text : outcome._tag)
})

const worker = Layer.effectDiscard(runId === undefined ? Effect.void : question).pipe(
  Layer.provideMerge(shepherd.layer),
  Layer.provide([model, handlers]),
  Layer.provide(runtime)
)

NodeRuntime.runMain(Layer.launch(worker))
