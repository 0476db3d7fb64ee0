import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { type EnvMode, parse, VARIABLE } from "../../src/content/CaptureEnvironment.ts"
import { ContentPolicy, forTool, make, type Options, ToolContent } from "../../src/content/ContentPolicy.ts"

const kinds = (policy: ReturnType<typeof make>) => {
  const { arguments: args, results, errors, reasons, descriptions } = policy
  return { args, results, errors, reasons, descriptions }
}

const allOff = { args: "off", results: "off", errors: "off", reasons: "off", descriptions: "off" }

describe("make", () => {
  it("captures arguments, redacted, and nothing else by default", () => {
    const policy = make({}, "unset")
    assert.deepStrictEqual(kinds(policy), { ...allOff, args: "redacted" })
    assert.deepInclude(policy, { maxBytes: 4096, redact: undefined, spans: true, events: true })
  })

  it("takes what the code says", () => {
    const redact = () => "x"
    const policy = make(
      { arguments: "off", results: "full", errors: "redacted", maxBytes: 64, redact, reasons: undefined },
      "unset"
    )
    assert.deepStrictEqual(kinds(policy), { ...allOff, results: "full", errors: "redacted" })
    assert.deepInclude(policy, { maxBytes: 64, redact })
  })

  it("cannot be changed", () => {
    assert.isTrue(Object.isFrozen(make({}, "unset")))
    assert.isTrue(Object.isFrozen(forTool(make({}, "unset"), { results: "full" })))
  })

  it("lets the environment forbid whatever the code says", () => {
    const policy = make({ arguments: "full", results: "full", errors: "full" }, "NO_CONTENT")
    assert.deepStrictEqual(kinds(policy), allOff)
    assert.deepInclude(policy, { spans: false, events: false })
  })

  it("lets the environment name the signals, and raise what the code leaves open", () => {
    for (const [env, spans, events] of [
      ["SPAN_ONLY", true, false],
      ["EVENT_ONLY", false, true],
      ["SPAN_AND_EVENT", true, true]
    ] as const) {
      const policy = make({ results: "off", errors: "full" }, env)
      assert.deepInclude(policy, { spans, events })
      assert.deepStrictEqual(kinds(policy), {
        args: "redacted",
        results: "off",
        errors: "full",
        reasons: "redacted",
        descriptions: "redacted"
      })
    }
  })

  it("refuses what it does not know, naming option, value and what is allowed", () => {
    // The casts stand for callers without types.
    const refused = (options: unknown) =>
      assert.throws(() => make(options as Options, "unset"), Error, /allowed/)
    for (const value of ["Full", "on", true, 1, null, {}]) refused({ results: value })
    for (const value of [63, -1, 100.5, Number.NaN, Number.POSITIVE_INFINITY, "4096", null])
      refused({ maxBytes: value })
    for (const value of ["x", 1, {}, null]) refused({ redact: value })
    for (const options of [null, "full", { result: "full" }, { constructor: "full" }]) refused(options)
    assert.throws(
      () => make({ results: "on" } as unknown as Options, "unset"),
      'ContentPolicy: option "results" is "on"; allowed: "off", "redacted" or "full"'
    )
    assert.throws(
      () => make({ maxBytes: -1 }, "unset"),
      'ContentPolicy: option "maxBytes" is -1; allowed: an integer, at least 64'
    )
    assert.throws(
      () => make({ result: "full" } as Options, "unset"),
      'ContentPolicy: unknown option "result"; allowed: arguments, results, errors, reasons, descriptions, messages, maxBytes, redact'
    )
  })
})

describe("forTool", () => {
  it("is the policy itself where the tool says nothing", () => {
    const policy = make({}, "unset")
    assert.strictEqual(forTool(policy, undefined), policy)
  })

  it("lets the tool win over code and over the environment's raised defaults", () => {
    const policy = make({ arguments: "full", maxBytes: 100 }, "SPAN_AND_EVENT")
    const own = forTool(policy, { arguments: "off", results: "full", errors: undefined })
    assert.deepInclude(own, { arguments: "off", results: "full", errors: "redacted", maxBytes: 100 })
  })

  it("does not let the tool win over an exclusion by the environment", () => {
    const forbidden = forTool(make({}, "NO_CONTENT"), { arguments: "full" })
    assert.deepStrictEqual(kinds(forbidden), allOff)
    const spansOnly = forTool(make({}, "SPAN_ONLY"), { arguments: "full" })
    assert.deepInclude(spansOnly, { arguments: "full", spans: true, events: false })
  })

  it("refuses what make refuses", () => {
    assert.throws(() => forTool(make({}, "unset"), { maxBytes: 1 }), 'ContentPolicy: option "maxBytes" is 1')
  })
})

describe("ContentPolicy", () => {
  it.effect("is the default policy of the process, unless provided", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* ContentPolicy, make())
      const own = make({ results: "full" })
      assert.strictEqual(yield* Effect.provideService(ContentPolicy, ContentPolicy, own), own)
    })
  )
})

describe("ToolContent", () => {
  it("carries a tool's own options", () => {
    const tool = Tool.make("Search").annotate(ToolContent, { results: "redacted" })
    assert.deepStrictEqual(Context.get(tool.annotations, ToolContent), { results: "redacted" })
    assert.isUndefined(Context.get(Tool.make("Search").annotations, ToolContent))
  })
})

describe("the environment variable", () => {
  const read = (
    value: string | undefined
  ): { readonly mode: EnvMode; readonly warnings: ReadonlyArray<string> } => {
    const warnings: Array<string> = []
    return { mode: parse(value, (message) => warnings.push(message)), warnings }
  }

  it("is read in any case, with spaces around", () => {
    for (const [value, mode] of [
      [undefined, "unset"],
      ["", "unset"],
      ["  ", "unset"],
      ["NO_CONTENT", "NO_CONTENT"],
      [" span_only ", "SPAN_ONLY"],
      ["Event_Only", "EVENT_ONLY"],
      ["span_and_event", "SPAN_AND_EVENT"]
    ] as const) {
      assert.deepStrictEqual(read(value), { mode, warnings: [] })
    }
  })

  it("means no content, with a warning, where it is not understood", () => {
    for (const value of ["true", "false", "1", "span", "SPAN-ONLY"]) {
      const { mode, warnings } = read(value)
      assert.strictEqual(mode, "NO_CONTENT")
      assert.lengthOf(warnings, 1)
      for (const part of [
        VARIABLE,
        JSON.stringify(value),
        "NO_CONTENT, SPAN_ONLY, EVENT_ONLY, SPAN_AND_EVENT"
      ]) {
        assert.include(warnings[0], part)
      }
    }
  })
})
