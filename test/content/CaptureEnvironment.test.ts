import { spawnSync } from "node:child_process"
import { assert, describe, it } from "@effect/vitest"
import { VARIABLE } from "../../src/content/CaptureEnvironment.ts"

const contentPolicy = new URL("../../src/content/ContentPolicy.ts", import.meta.url).href

/** What a process with this value of the variable prints. */
const run = (
  value: string | undefined
): { readonly policy: unknown; readonly warnings: ReadonlyArray<string> } => {
  const program = `
    import { make } from ${JSON.stringify(contentPolicy)}
    const first = make({ results: "full" })
    process.env.${VARIABLE} = "SPAN_AND_EVENT"
    const second = make({ results: "full" })
    console.log(JSON.stringify([first, second]))`
  const { stdout, stderr } = spawnSync(
    process.execPath,
    ["--input-type=module-typescript", "--eval", program],
    {
      env: { ...process.env, [VARIABLE]: value },
      encoding: "utf8"
    }
  )
  const [first, second]: ReadonlyArray<unknown> = JSON.parse(stdout)
  assert.deepStrictEqual(second, first)
  return { policy: first, warnings: stderr.split("\n").filter((line) => line.includes(VARIABLE)) }
}

describe("CaptureEnvironment", () => {
  it("is read from the process once, and warns once", () => {
    const { policy, warnings } = run("true")
    assert.deepInclude(policy, { arguments: "off", results: "off", spans: false, events: false })
    assert.lengthOf(warnings, 1)
  })

  it("is silent where the variable is understood or missing", () => {
    const spanOnly = run("span_only")
    assert.deepInclude(spanOnly.policy, { results: "full", errors: "redacted", spans: true, events: false })
    assert.deepStrictEqual(spanOnly.warnings, [])
    const unset = run(undefined)
    assert.deepInclude(unset.policy, {
      arguments: "redacted",
      results: "full",
      errors: "off",
      spans: true,
      events: true
    })
    assert.deepStrictEqual(unset.warnings, [])
  })
})
