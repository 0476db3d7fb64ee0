#!/usr/bin/env node
/**
 * Starts the command, or says what has to be installed for it.
 */
const packages = ["@effect/platform-node", "@effect/opentelemetry"]

try {
  const { main } = await import("./Toolspan.ts")
  main()
} catch (error) {
  const missing = packages.find((name) => error instanceof Error && error.message.includes(`'${name}`))
  if (missing === undefined) throw error
  process.stderr.write(`toolspan: the command needs ${missing}; install it with: npm install ${missing}\n`)
  process.exitCode = 1
}
