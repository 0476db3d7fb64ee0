/**
 * The `toolspan` command: subcommands, services, runtime.
 */
import { readFileSync } from "node:fs"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import * as NodeServices from "@effect/platform-node/NodeServices"
import * as Command from "effect/cli/Command"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Approvals from "./Approvals.ts"
import * as Demo from "./Demo.ts"
import * as Doctor from "./Doctor.ts"
import * as Run from "./Run.ts"

/** Two levels up, in the sources as in the package. */
const metadata = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ version: Schema.String, description: Schema.String }))
)(readFileSync(new URL("../../package.json", import.meta.url), "utf8"))

const toolspan = Command.make("toolspan").pipe(
  Command.withDescription(metadata.description),
  Command.withSubcommands([Demo.command, Run.command, Approvals.command, Doctor.command])
)

export const main = () =>
  Command.run(toolspan, { version: metadata.version }).pipe(
    Effect.provide(NodeServices.layer),
    NodeRuntime.runMain
  )
