/**
 * The tests that kill processes: `npm run test:crash`. They take minutes.
 */
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

export default defineConfig({
  root: fileURLToPath(new URL("../../", import.meta.url)),
  resolve: { conditions: ["toolspan-source"] },
  test: {
    include: ["test/crash/**/*.crash.ts"],
    testTimeout: 900_000,
    hookTimeout: 60_000,
    reporters: process.env["CI"]
      ? ["verbose", ["json", { outputFile: ".cache/crash-tests.json" }]]
      : ["verbose"]
  }
})
