/**
 * Alertmanager with `stack/alertmanager/` and the flags of `docker-compose.yml`. Its webhooks are the file's own examples, uncommented.
 */
import * as Fs from "node:fs"
import * as Path from "node:path"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type * as Build from "./Build.ts"
import * as Compose from "./Compose.ts"
import * as Flags from "./Flags.ts"
import * as Programs from "./Programs.ts"
import * as Shipped from "./Shipped.ts"
import * as Supervised from "./Supervised.ts"

const FILE = "stack/alertmanager/alertmanager.yml"

export interface Options {
  readonly folder: string
  readonly port: number
  /** Without it, nobody is told, as shipped. */
  readonly webhook?: string | undefined
}

/** Not started yet. */
export const make = (
  options: Options
): Effect.Effect<Supervised.Supervised, Build.BuildFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const folder = Path.join(options.folder, "alertmanager")
    const own = `127.0.0.1:${options.port}`
    Fs.mkdirSync(folder, { recursive: true })
    Fs.writeFileSync(Path.join(folder, "alertmanager.yml"), configuration(options.webhook))
    const { services } = yield* Compose.read
    return yield* Supervised.make({
      name: "alertmanager",
      path: yield* Programs.path("alertmanager"),
      args: Flags.withValues(services["alertmanager"]?.command ?? [], {
        "config.file": Path.join(folder, "alertmanager.yml"),
        "storage.path": Path.join(folder, "data"),
        "web.external-url": `http://${own}/`,
        "web.listen-address": own
      }),
      ready: `http://${own}/-/ready`
    })
  })

/** The shipped file; with `webhook`, that in the place of its examples. */
export const configuration = (webhook?: string): string =>
  webhook === undefined
    ? Shipped.read(FILE)
    : Shipped.changed(
        Shipped.read(FILE),
        [
          ["# webhook_configs:", "webhook_configs:"],
          ["http://host.docker.internal:9095", webhook]
        ],
        FILE
      )
