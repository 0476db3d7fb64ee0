import { assert, describe, it } from "@effect/vitest"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { type Captured, capture } from "../../src/content/Capture.ts"
import { type Content, type ContentKind, make, type Options } from "../../src/content/ContentPolicy.ts"
import { maskOf, sensitive } from "../../src/content/SensitiveSchema.ts"
import { leak, looks, noise } from "./Secrets.ts"

const everything: Options = {
  arguments: "redacted",
  results: "redacted",
  errors: "redacted",
  reasons: "redacted",
  descriptions: "redacted"
}

const content = (kind: ContentKind, value: unknown): Content => ({ kind, toolName: "Search", value })

const capturing = (options: Options, kind: ContentKind, value: unknown, mask?: object): Captured =>
  capture(make({ ...everything, ...options }, "unset"), content(kind, value), {
    signal: "span",
    mask: mask && maskOf(mask)
  })

const textOf = (captured: Captured): string => {
  if (captured._tag !== "Captured") assert.fail(captured._tag)
  return captured.text
}

const kinds = ["arguments", "results", "errors", "reasons", "descriptions"] as const
const texts = ["errors", "reasons", "descriptions"] as const

describe("capture", () => {
  it("is off where the policy says so, without reading the value", () => {
    const value = {
      get a() {
        throw new Error("read")
      }
    }
    for (const kind of kinds) {
      const policy = make({ arguments: "off" }, "unset")
      assert.deepStrictEqual(capture(policy, content(kind, value), { signal: "span" }), { _tag: "Off" })
    }
  })

  it("keeps to the signals that the environment allows", () => {
    const spanOnly = make({}, "SPAN_ONLY")
    const eventOnly = make({}, "EVENT_ONLY")
    const one = content("arguments", { a: 1 })
    assert.strictEqual(capture(spanOnly, one, { signal: "span" })._tag, "Captured")
    assert.strictEqual(capture(spanOnly, one, { signal: "event" })._tag, "Off")
    assert.strictEqual(capture(eventOnly, one, { signal: "span" })._tag, "Off")
    assert.strictEqual(capture(eventOnly, one, { signal: "event" })._tag, "Captured")
    assert.strictEqual(capture(make({}, "NO_CONTENT"), one, { signal: "span" })._tag, "Off")
  })

  it("gives JSON objects for arguments and results, whatever the value is", () => {
    for (const [value, args, results] of [
      [{ a: 1 }, '{"a":1}', '{"a":1}'],
      [[1, 2], '{"value":[1,2]}', '{"result":[1,2]}'],
      ["x", '{"value":"x"}', '{"result":"x"}'],
      [null, '{"value":null}', '{"result":null}'],
      [undefined, '{"value":null}', '{"result":null}']
    ] as const) {
      assert.strictEqual(textOf(capturing({}, "arguments", value)), args)
      assert.strictEqual(textOf(capturing({}, "results", value)), results)
    }
  })

  it("gives plain text for all other kinds", () => {
    for (const kind of texts) {
      assert.strictEqual(textOf(capturing({}, kind, 'He said "no"\n')), 'He said "no"\n')
      assert.strictEqual(textOf(capturing({}, kind, { code: 1 })), '{"code":1}')
    }
  })

  it("redacts, or leaves as it is, each kind as the policy says", () => {
    const value = { password: "hunter2", note: "Bearer abcdefghij" }
    assert.strictEqual(
      textOf(capturing({}, "arguments", value)),
      '{"password":"[REDACTED]","note":"Bearer [REDACTED]"}'
    )
    assert.strictEqual(textOf(capturing({ arguments: "full" }, "arguments", value)), JSON.stringify(value))
    assert.strictEqual(textOf(capturing({}, "errors", "bad password=hunter2")), "bad password=[REDACTED]")
    assert.strictEqual(
      textOf(capturing({ errors: "full" }, "errors", "bad password=hunter2")),
      "bad password=hunter2"
    )
  })

  it("masks what the schema marks under every policy", () => {
    const schema = Schema.Struct({ odd: sensitive(Schema.String), note: Schema.String })
    for (const how of ["redacted", "full"] as const) {
      const captured = capturing({ arguments: how }, "arguments", { odd: "xyz", note: "a" }, schema)
      assert.strictEqual(textOf(captured), '{"odd":"[REDACTED]","note":"a"}')
    }
    assert.strictEqual(
      textOf(capturing({}, "arguments", { odd: "xyz" }, sensitive(schema))),
      '{"value":"[REDACTED]"}'
    )
  })

  it("never exceeds the cap, and says what was cut", () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...kinds),
        fc.oneof(fc.string({ unit: "binary", maxLength: 400 }), fc.jsonValue({ stringUnit: "binary" })),
        fc.integer({ min: 64, max: 300 }),
        fc.constantFrom("redacted" as const, "full" as const),
        (kind, value, maxBytes, how) => {
          const captured = capturing({ [kind]: how, maxBytes }, kind, value)
          assert.isAtMost(new TextEncoder().encode(textOf(captured)).length, maxBytes)
          if (kind === "arguments" || kind === "results") JSON.parse(textOf(captured))
        }
      ),
      { numRuns: 1000 }
    )
    assert.deepStrictEqual(capturing({ maxBytes: 64 }, "errors", "x".repeat(1000)), {
      _tag: "Captured",
      text: `${"x".repeat(61)}…`,
      originalBytes: 1000
    })
    assert.deepStrictEqual(capturing({ maxBytes: 64 }, "errors", "€".repeat(30)), {
      _tag: "Captured",
      text: `${"€".repeat(20)}…`,
      originalBytes: 90
    })
  })

  it("shows no part of a secret in a text, at any cap", () => {
    fc.assert(
      fc.property(
        fc.oneof(...looks.map(([, planted]) => planted)),
        noise,
        fc.integer({ min: 64, max: 2000 }),
        ({ text, secret }, before, maxBytes) => {
          assert.isUndefined(
            leak(textOf(capturing({ maxBytes }, "errors", `${before} ${text} ${before}`)), secret)
          )
        }
      ),
      { numRuns: 1000 }
    )
  })

  it("captures what the hook gives instead, redacted and capped like anything else", () => {
    const seen: Array<Content> = []
    const redact = (content: Content) => {
      seen.push(content)
      return { only: "x".repeat(100), password: "hunter2" }
    }
    const captured = capturing({ redact, maxBytes: 64 }, "arguments", { a: 1 })
    assert.deepStrictEqual(seen, [content("arguments", { a: 1 })])
    assert.deepStrictEqual(JSON.parse(textOf(captured)), {
      only: `${"x".repeat(15)}…`,
      password: "[REDACTED]"
    })
  })

  it("masks what the schema marks in what the hook gives, unless that is a text of its own", () => {
    const schema = Schema.Struct({ odd: sensitive(Schema.String) })
    const give = (redact: (content: Content) => unknown, value: unknown): string =>
      textOf(capturing({ redact }, "arguments", value, schema))
    assert.strictEqual(
      give(({ value }) => ({ ...Object(value) }), { odd: "xyz" }),
      '{"odd":"[REDACTED]"}'
    )
    assert.strictEqual(
      give(() => "one field", { odd: "xyz" }),
      '{"value":"one field"}'
    )
    assert.strictEqual(
      give(({ value }) => value, "xyz"),
      '{"value":"[REDACTED]"}'
    )
  })

  it("is off where the hook gives nothing, and dropped where it throws", () => {
    assert.deepStrictEqual(capturing({ redact: () => undefined }, "arguments", { a: 1 }), { _tag: "Off" })
    const redact = () => {
      throw new Error("bug")
    }
    assert.deepStrictEqual(capturing({ redact }, "arguments", { a: 1 }), {
      _tag: "Dropped",
      reason: "hook_failed"
    })
  })

  it("does not ask the hook about what the policy leaves out", () => {
    const redact = () => {
      throw new Error("asked")
    }
    assert.strictEqual(capturing({ redact, arguments: "off" }, "arguments", { a: 1 })._tag, "Off")
  })

  it("is dropped where the value cannot be read at all", () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    assert.deepStrictEqual(capturing({}, "arguments", proxy), { _tag: "Dropped", reason: "serialization" })
  })
})
