/**
 * The tests that run the real programs: `npm run test:stack`. They are not part of `npm test`: the first run builds for minutes.
 */
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

export default defineConfig({
  root: fileURLToPath(new URL("../../", import.meta.url)),
  resolve: { conditions: ["toolspan-source"] },
  test: {
    include: ["test/stack/**/*.stack.ts"],
    globalSetup: ["test/stack/setup.ts"],
    // Each file starts programs of its own. They wait most of the time: for an outage to last, for an alert to resolve.
    maxWorkers: 2,
    testTimeout: 300_000,
    hookTimeout: 120_000,
    reporters: process.env["CI"]
      ? ["verbose", ["json", { outputFile: ".cache/stack-tests.json" }]]
      : ["verbose"]
  }
})
