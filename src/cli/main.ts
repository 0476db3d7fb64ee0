#!/usr/bin/env node
/**
 * Starts the command, or says what has to be installed for it.
 */
const platform = "@effect/platform-node"

try {
  const { main } = await import("./Toolspan.ts")
  main()
} catch (error) {
  if (!(error instanceof Error && error.message.includes(`'${platform}`))) throw error
  process.stderr.write(`toolspan: the command needs ${platform}; install it with: npm install ${platform}\n`)
  process.exitCode = 1
}
