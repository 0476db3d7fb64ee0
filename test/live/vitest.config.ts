/**
 * The tests that ask the real API, where a key is set: `ANTHROPIC_API_KEY=… npm run test:live`. They cost a few cents.
 */
import { fileURLToPath } from "node:url"
import { defineConfig } from "vitest/config"

export default defineConfig({
  root: fileURLToPath(new URL("../../", import.meta.url)),
  resolve: { conditions: ["toolspan-source"] },
  test: { include: ["test/live/*.live.ts"], testTimeout: 120_000, reporters: ["verbose"] }
})
