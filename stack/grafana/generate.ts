/**
 * Writes the dashboards as JSON, for Grafana: `npm run dashboards`.
 */
import { execFileSync } from "node:child_process"
import { writeFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { overview } from "./overview.ts"
import { tool } from "./tool.ts"

/** By the name of their file. */
export const dashboards = { "overview.json": overview, "tool.json": tool }

/** Where the files are. */
export const folder = fileURLToPath(new URL("dashboards/", import.meta.url))

if (import.meta.main) {
  for (const [name, dashboard] of Object.entries(dashboards)) {
    // In the style of all files here, which `npm run check` looks at.
    const text = execFileSync("biome", ["format", `--stdin-file-path=${name}`], {
      input: JSON.stringify(dashboard),
      encoding: "utf8"
    })
    writeFileSync(`${folder}${name}`, text)
  }
}
