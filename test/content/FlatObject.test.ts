import { assert, describe, it } from "@effect/vitest"
import * as fc from "fast-check"
import * as FlatObject from "../../src/content/FlatObject.ts"
import { JsonWriter } from "../../src/content/JsonWriter.ts"

/** What the general writer gives, without cutting. */
const general = (value: unknown, redact: boolean, room: number) => {
  const writer = new JsonWriter(redact, false)
  return writer.writeRoot(value, undefined, room) ? writer.text : undefined
}

const name = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.constantFrom("city", "days", "password", "api_key", "value", "name", "max_tokens", "toJSON", "__proto__")
)
const field = fc.oneof(
  fc.string(),
  fc.constantFrom("sk-live-0123456789abcdef", "4242 4242 4242 4242", "Bearer abcdefghijklmnop"),
  fc.double(),
  fc.integer(),
  fc.constant(4242424242424242),
  fc.boolean(),
  fc.constantFrom(null, undefined, -0, 1e21)
)

describe("a small flat object", () => {
  it("is written exactly as the general writer does, or left to it", () => {
    fc.assert(
      fc.property(
        fc.dictionary(name, field, { maxKeys: 20, noNullPrototype: true }),
        fc.boolean(),
        fc.integer({ min: 64, max: 200 }),
        (value, redact, room) => {
          const text = FlatObject.write(value, redact, room)
          if (text !== undefined) assert.strictEqual(text, general(value, redact, room))
        }
      ),
      { numRuns: 2000 }
    )
  })

  it("is what most arguments are", () => {
    assert.strictEqual(
      FlatObject.write({ city: "Berlin", days: 3, metric: true }, true, 4096),
      '{"city":"Berlin","days":3,"metric":true}'
    )
  })

  it("is left to the general writer where it may hold a secret, or is another kind of value", () => {
    for (const value of [
      { password: "x" },
      { text: "sk-live-0123456789abcdef" },
      { card: 4242424242424242 },
      { nested: {} },
      { list: [] },
      [],
      null,
      "text",
      new Date(),
      Object.create(null)
    ]) {
      assert.isUndefined(FlatObject.write(value, true, 4096))
    }
  })
})
