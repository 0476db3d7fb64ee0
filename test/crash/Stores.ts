/** The stores and engines of the crash tests, as a worker has them: from a URL. */
import * as NodeClusterSocket from "@effect/platform-node/NodeClusterSocket"
import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import * as ClusterWorkflowEngine from "effect/cluster/ClusterWorkflowEngine"
import * as RunnerAddress from "effect/cluster/RunnerAddress"
import * as SingleRunner from "effect/cluster/SingleRunner"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as WorkflowEngine from "effect/workflow/WorkflowEngine"
import * as DurableRuntime from "../../src/runtime/DurableRuntime.ts"
import * as SqlRunStore from "../../src/runtime/SqlRunStore.ts"
import * as SqliteClient from "../../src/sqlite/SqliteClient.ts"
import * as Postgres from "../support/Postgres.ts"
import * as Points from "./Points.ts"

/** Milliseconds. */
export const LEASE = 1500

export const client = (url: string) =>
  url.startsWith("postgres:") ? Postgres.client({ url }, 5) : SqliteClient.layer({ filename: url })

export const store = (url: string) =>
  SqlRunStore.layer({ lease: LEASE }).pipe(Layer.provideMerge(client(url)))

/**
 * The engine of one worker. On Postgres, runners of a cluster; on a file that one process has, a single runner; on a file that several
 * have, the engine in memory: each finds what is due in the store.
 */
export const engine = (kind: string, port: number) => {
  const shardingConfig = {
    entityTerminationTimeout: 100,
    entityMessagePollInterval: 200,
    shardLockRefreshInterval: 500,
    shardLockExpiration: 2000,
    refreshAssignmentsInterval: 300,
    runnerHealthCheckInterval: 500,
    shardsPerGroup: 30
  }
  switch (kind) {
    case "cluster":
      return ClusterWorkflowEngine.layer.pipe(
        Layer.provide(
          NodeClusterSocket.layer({
            storage: "sql",
            shardingConfig: {
              ...shardingConfig,
              runnerAddress: Option.some(RunnerAddress.make("127.0.0.1", port))
            }
          })
        )
      )
    case "single":
      return ClusterWorkflowEngine.layer.pipe(
        Layer.provide(SingleRunner.layer({ runnerStorage: "sql", shardingConfig })),
        Layer.provide(NodeCrypto.layerDigest)
      )
    default:
      return WorkflowEngine.layerMemory
  }
}

export const runtime = (url: string, kind: string, port: number, pass?: Points.Pass) =>
  DurableRuntime.layer({ pollInterval: 200 }).pipe(
    Layer.provide(DurableRuntime.untraced(engine(kind, port))),
    Layer.provideMerge(
      pass === undefined ? store(url) : Points.layer(pass).pipe(Layer.provideMerge(store(url)))
    )
  )
