/**
 * A client that is open as long as the test.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqliteClient from "../../src/sqlite/SqliteClient.ts"

export const open = (options: SqliteClient.SqliteClientConfig) =>
  Effect.flatMap(Effect.scope, (scope) =>
    Effect.map(Layer.buildWithScope(SqliteClient.layer(options), scope), (context) =>
      Context.get(context, SqliteClient.SqliteClient)
    )
  )
