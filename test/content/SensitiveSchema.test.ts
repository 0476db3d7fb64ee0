import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import { write } from "../../src/content/BoundedJson.ts"
import { maskOf, sensitive } from "../../src/content/SensitiveSchema.ts"

const M = "[REDACTED]"

/** What is left to see of an encoded value. */
const seen = (schema: object, encoded: unknown): unknown => {
  const written = write(encoded, { maxBytes: 4096, redact: false, mask: maskOf(schema) })
  return JSON.parse(written?.text ?? "")
}

const Hidden = Schema.RedactedFromValue(Schema.String)
const Login = Schema.Struct({ user: Schema.String, word: Hidden })
const login = { user: "ann", word: "xyz" }
const masked = { user: "ann", word: M }

describe("maskOf an Effect schema", () => {
  it("is undefined where nothing is sensitive", () => {
    assert.isUndefined(
      maskOf(
        Schema.Struct({ a: Schema.String, b: Schema.optionalKey(Schema.Array(Schema.FiniteFromString)) })
      )
    )
    assert.isUndefined(maskOf(Tool.make("Ping").parametersSchema))
  })

  it("masks redacted and marked fields, whatever their type", () => {
    const schema = Schema.Struct({
      a: Hidden,
      b: sensitive(Schema.Finite),
      c: sensitive(Schema.Struct({ d: Schema.String })),
      e: Schema.optionalKey(Hidden),
      f: Schema.optional(sensitive(Schema.String)),
      g: Schema.String.annotate({ writeOnly: true }),
      h: Schema.String.annotate({ format: "password" }),
      i: Schema.NullOr(Hidden),
      z: Schema.String
    })
    assert.deepStrictEqual(
      seen(schema, { a: "1", b: 2, c: { d: "3" }, e: "4", f: "5", g: "6", h: "7", i: null, z: "8" }),
      { a: M, b: M, c: M, e: M, f: M, g: M, h: M, i: null, z: "8" }
    )
  })

  it("masks in structs, arrays, tuples and records, at any depth", () => {
    const schema = Schema.Struct({
      list: Schema.Array(Login),
      tuple: Schema.TupleWithRest(Schema.Tuple([Schema.String, Hidden]), [Login]),
      record: Schema.Record(Schema.String, Schema.Struct({ deep: Schema.Array(Hidden) }))
    })
    assert.deepStrictEqual(
      seen(schema, { list: [login], tuple: ["a", "b", login, login], record: { x: { deep: ["1", "2"] } } }),
      { list: [masked], tuple: ["a", M, masked, masked], record: { x: { deep: [M, M] } } }
    )
  })

  it("masks what is sensitive in one member of a union", () => {
    const schema = Schema.Union([
      Schema.Struct({ a: Hidden }),
      Schema.Struct({ a: Schema.String, b: Schema.String })
    ])
    assert.deepStrictEqual(seen(schema, { a: "1", b: "2" }), { a: M, b: "2" })
  })

  it("masks through recursion", () => {
    interface Tree {
      readonly leaf: string
      readonly name: string
      readonly below: ReadonlyArray<Tree>
    }
    const Tree: Schema.Codec<Tree> = Schema.Struct({
      leaf: sensitive(Schema.String),
      name: Schema.String,
      below: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
    })
    assert.deepStrictEqual(
      seen(Tree, { leaf: "1", name: "a", below: [{ leaf: "2", name: "b", below: [] }] }),
      { leaf: M, name: "a", below: [{ leaf: M, name: "b", below: [] }] }
    )
  })

  it("stays marked under checks and brands, before and after the mark", () => {
    const schema = Schema.Struct({
      a: sensitive(Schema.String).check(Schema.isMinLength(1)).pipe(Schema.brand("A")),
      b: sensitive(Schema.String.check(Schema.isMinLength(1))).check(Schema.isMaxLength(9))
    })
    assert.deepStrictEqual(seen(schema, { a: "1", b: "2" }), { a: M, b: M })
  })

  it("follows a secret to its encoded name", () => {
    const renamed = Login.pipe(Schema.encodeKeys({ word: "w" }))
    assert.deepStrictEqual(Schema.encodeSync(renamed)({ user: "ann", word: Redacted.make("xyz") }), {
      user: "ann",
      w: "xyz"
    })
    assert.deepStrictEqual(seen(renamed, { user: "ann", w: "xyz" }), { user: "ann", w: M })

    const swapped = Login.pipe(Schema.encodeKeys({ word: "user", user: "word" }))
    assert.deepStrictEqual(seen(swapped, { user: "xyz", word: "ann" }), { user: M, word: "ann" })
  })

  it("masks in classes, renamed and nested too", () => {
    class Account extends Schema.Class<Account>("Account")({ word: Hidden, user: Schema.String }) {}
    assert.deepStrictEqual(seen(Account, login), masked)
    assert.deepStrictEqual(seen(Schema.Array(Account), [login]), [masked])
    assert.deepStrictEqual(
      seen(Account.pipe(Schema.encodeKeys({ word: "user", user: "word" })), { user: "xyz", word: "ann" }),
      {
        user: M,
        word: "ann"
      }
    )
  })

  it("masks behind defaults, options, derived fields and recovered decoding", () => {
    const fallback = Effect.succeed({ user: "nobody", word: "" })
    const schema = Schema.Struct({
      a: Login.pipe(Schema.withDecodingDefault(fallback)),
      b: Login.pipe(Schema.withDecodingDefaultKey(fallback)),
      c: Schema.OptionFromNullOr(Login),
      d: Schema.OptionFromOptionalKey(Login),
      e: Login.pipe(Schema.catchDecoding((issue) => Effect.fail(issue)))
    })
    assert.deepStrictEqual(seen(schema, { a: login, b: login, c: login, d: login, e: login }), {
      a: masked,
      b: masked,
      c: masked,
      d: masked,
      e: masked
    })
    assert.deepStrictEqual(seen(Schema.toCodecJson(Login), login), masked)
  })

  it("masks all that a transformation makes where a secret cannot be followed", () => {
    assert.strictEqual(seen(Schema.fromJsonString(Login), JSON.stringify(login)), M)
    const joined = Schema.Struct({ both: Schema.String }).pipe(
      Schema.decodeTo(Schema.Struct({ user: Schema.String, word: sensitive(Schema.String) }), {
        decode: SchemaGetter.transform(({ both }) => ({ user: both, word: both })),
        encode: SchemaGetter.transform(({ user, word }) => ({ both: `${user}:${word}` }))
      })
    )
    assert.deepStrictEqual(seen(Schema.Struct({ x: joined }), { x: { both: "ann:xyz" } }), { x: M })
    assert.deepStrictEqual(seen(Schema.Option(Login), { value: login }), M)
    assert.strictEqual(seen(Schema.TemplateLiteral(["id-", sensitive(Schema.String)]), "id-xyz"), M)
  })

  it("masks what does not have the shape of the schema where a secret could be in it", () => {
    assert.deepStrictEqual(seen(Login, { user: "ann", wrod: "xyz" }), { user: "ann", wrod: M })
    assert.deepStrictEqual(seen(Login, [login]), [M])
    assert.deepStrictEqual(seen(Login, JSON.stringify(login)), M)
    assert.deepStrictEqual(seen(Schema.Array(Hidden), { a: "xyz" }), { a: M })
  })

  it("takes a schema that cannot be read, or never ends, for sensitive", () => {
    const broken = Schema.Struct({
      a: Schema.suspend((): Schema.Codec<string> => {
        throw new Error("broken")
      })
    })
    assert.strictEqual(maskOf(broken)?.whole, true)
    const endless = (): Schema.Codec<unknown> => Schema.Struct({ a: Schema.suspend(endless) })
    assert.isDefined(maskOf(endless()))
  })

  it("compiles a schema once", () => {
    assert.strictEqual(maskOf(Login), maskOf(Login))
  })
})

describe("maskOf a JSON schema", () => {
  it("is undefined where nothing is sensitive", () => {
    assert.isUndefined(maskOf({ type: "object", properties: { a: { type: "string", format: "date" } } }))
    assert.isUndefined(maskOf({ $ref: "#/$defs/none", properties: true, allOf: 1 }))
  })

  it("masks writeOnly and password properties through every keyword that places them", () => {
    const secret = { type: "string", writeOnly: true }
    const schema = {
      properties: {
        a: secret,
        b: { format: "password" },
        c: { $ref: "#/$defs/secret" },
        d: { type: "array", items: secret },
        e: { prefixItems: [{}, secret] },
        f: { additionalProperties: secret },
        g: { anyOf: [{ type: "null" }, secret] },
        h: { oneOf: [{ type: "null" }, { properties: { x: secret, y: {} } }] },
        i: { allOf: [{ $ref: "#/$defs/a~1b" }] },
        j: { patternProperties: { "^x": secret } },
        k: { if: {}, else: secret },
        z: { type: "string" }
      },
      $defs: { secret, "a/b": secret }
    }
    assert.deepStrictEqual(
      seen(schema, {
        a: "1",
        b: "1",
        c: "1",
        d: ["1"],
        e: ["0", "1"],
        f: { x: "1" },
        g: "1",
        h: { x: "1", y: "0" },
        i: "1",
        j: { x1: "1" },
        k: "1",
        z: "0"
      }),
      {
        a: M,
        b: M,
        c: M,
        d: [M],
        e: ["0", M],
        f: { x: M },
        g: M,
        h: { x: M, y: "0" },
        i: M,
        j: { x1: M },
        k: M,
        z: "0"
      }
    )
  })

  it("masks through recursion", () => {
    const schema = { properties: { s: { writeOnly: true }, n: {}, below: { items: { $ref: "#" } } } }
    assert.deepStrictEqual(seen(schema, { s: "1", n: "a", below: [{ s: "2", n: "b", below: [] }] }), {
      s: M,
      n: "a",
      below: [{ s: M, n: "b", below: [] }]
    })
  })
})
