import { defineConfig } from "vitest/config"

export default defineConfig({
  resolve: { conditions: ["toolspan-source"] },
  test: {
    include: ["test/**/*.test.ts"],
    // Several tests start programs of their own.
    testTimeout: 30_000,
    // Most of the time goes by waiting for those.
    maxWorkers: 3,
    reporters: process.env["CI"] ? ["default", ["json", { outputFile: ".cache/tests.json" }]] : ["default"]
  }
})
