import { assert, describe, it } from "@effect/vitest"
import * as Data from "effect/Data"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as fc from "fast-check"
import { type WriteOptions, write } from "../../src/content/BoundedJson.ts"
import { maskOf, sensitive } from "../../src/content/SensitiveSchema.ts"
import { leak, looks, noise, opaque } from "./Secrets.ts"

const UNCAPPED = Number.MAX_SAFE_INTEGER
const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** The text, checked: it parses, and fits. */
const textOf = (value: unknown, options: Partial<WriteOptions> = {}): string => {
  const maxBytes = options.maxBytes ?? UNCAPPED
  const written = write(value, { redact: false, ...options, maxBytes })
  assert.isDefined(written)
  JSON.parse(written.text)
  assert.isAtMost(bytesOf(written.text), maxBytes)
  return written.text
}

const shown = (value: unknown, options?: Partial<WriteOptions>): unknown => JSON.parse(textOf(value, options))

const caps = fc.oneof(fc.integer({ min: 64, max: 200 }), fc.integer({ min: 64, max: 6000 }))

const plain = fc.oneof(
  fc.jsonValue({ maxDepth: 6, stringUnit: "binary" }),
  fc.jsonValue({ maxDepth: 3, stringUnit: "grapheme", noUnicodeString: false })
)

/** Values that no program should have. */
const hostile: ReadonlyArray<readonly [name: string, make: () => unknown]> = [
  [
    "a throwing getter",
    () => ({
      get a() {
        throw new Error("no")
      },
      b: 1
    })
  ],
  [
    "a throwing toJSON",
    () => ({
      toJSON() {
        throw new Error("no")
      }
    })
  ],
  [
    "a toJSON that gives itself",
    () => ({
      toJSON() {
        return this
      }
    })
  ],
  [
    "a toJSON without end",
    function endless(): unknown {
      return { toJSON: endless }
    }
  ],
  [
    "a revoked proxy",
    () => {
      const { proxy, revoke } = Proxy.revocable({}, {})
      revoke()
      return proxy
    }
  ],
  [
    "a revoked array",
    () => {
      const { proxy, revoke } = Proxy.revocable([], {})
      revoke()
      return proxy
    }
  ],
  [
    "a proxy that throws",
    () =>
      new Proxy(
        {},
        {
          get() {
            throw new Error("no")
          },
          ownKeys() {
            throw new Error("no")
          }
        }
      )
  ],
  [
    "a proxy without end",
    function endless(): unknown {
      return new Proxy(
        {},
        {
          ownKeys: () => ["a", "b"],
          getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true }),
          get: (_, key) => (key === "toJSON" ? undefined : endless())
        }
      )
    }
  ],
  [
    "a cycle",
    () => {
      const a: Array<unknown> = []
      const b = { a, b: [a] }
      a.push(b, a)
      return b
    }
  ],
  [
    "a getter without end",
    function endless(): unknown {
      return {
        get a() {
          return endless()
        },
        get b() {
          return endless()
        }
      }
    }
  ],
  [
    "a throwing message",
    () =>
      Object.defineProperty(new Error("x"), "message", {
        get() {
          throw new Error("no")
        }
      })
  ],
  [
    "a throwing iterator",
    () =>
      Object.assign(new Set([1]), {
        values() {
          throw new Error("no")
        }
      })
  ],
  [
    "a map without end",
    () =>
      Object.assign(new Map(), {
        *entries() {
          for (;;) yield ["a", 1]
        }
      })
  ],
  ["an object of symbols", () => ({ [Symbol("a")]: 1, a: Symbol("b"), b: Symbol.iterator })],
  ["nothing", () => undefined],
  ["a function", () => function f() {}],
  ["a huge bigint", () => 10n ** 100_000n],
  ["an array that says it is huge", () => new Array(4_000_000_000)],
  ["numbers that JSON lacks", () => [Number.NaN, -0, Number.POSITIVE_INFINITY]],
  ["lone surrogates", () => ({ "\ud800": "\udc00\ud800" })],
  [
    "depth",
    () => {
      let deep: unknown = 1
      for (let i = 0; i < 10_000; i++) deep = i % 2 === 0 ? [deep] : { a: deep, b: i }
      return deep
    }
  ]
]

describe("write", () => {
  it("writes plain JSON values as JSON.stringify does, uncapped and unredacted", () => {
    fc.assert(
      fc.property(plain, (value) => {
        assert.deepStrictEqual(write(value, { maxBytes: UNCAPPED, redact: false }), {
          text: JSON.stringify(value),
          originalBytes: undefined
        })
      }),
      { numRuns: 500 }
    )
  })

  it("does not cut what fits to the byte", () => {
    fc.assert(
      fc.property(plain, (value) => {
        const text = JSON.stringify(value)
        const maxBytes = Math.max(bytesOf(text), 64)
        assert.deepStrictEqual(write(value, { maxBytes, redact: false }), { text, originalBytes: undefined })
      })
    )
  })

  it("gives valid JSON within the cap for every value and cap, and says when it cut", () => {
    const tree = fc.oneof(
      plain,
      fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true, withTypedArray: true })
    )
    const makers = fc.array(fc.constantFrom(...hostile.map(([, make]) => make)), { maxLength: 3 })
    fc.assert(
      fc.property(
        tree,
        makers,
        caps,
        fc.boolean(),
        fc.constantFrom(undefined, "value"),
        (value, makers, maxBytes, redact, field) => {
          const values = makers.map((make) => make())
          const written = write(values.length === 0 ? value : { a: values, value, b: values }, {
            maxBytes,
            redact,
            field
          })
          if (written === undefined) return
          const parsed: unknown = JSON.parse(written.text)
          assert.isAtMost(bytesOf(written.text), maxBytes)
          if (field !== undefined)
            assert.isTrue(typeof parsed === "object" && parsed !== null && !Array.isArray(parsed))
        }
      ),
      { numRuns: 2000 }
    )
  })

  it("tells the size of what it cut, no larger than it was", () => {
    fc.assert(
      fc.property(plain, caps, (value, maxBytes) => {
        const whole = bytesOf(JSON.stringify(value))
        const written = write(value, { maxBytes, redact: false })
        if (whole <= maxBytes) assert.isUndefined(written?.originalBytes)
        else {
          assert.isAbove(written?.originalBytes ?? 0, 0)
          assert.isAtMost(written?.originalBytes ?? 0, whole)
        }
      }),
      { numRuns: 1000 }
    )
    assert.strictEqual(
      write({ a: "x".repeat(1e6), b: [1, 2] }, { maxBytes: 64, redact: false })?.originalBytes,
      1e6 + 18
    )
  })

  it.each(hostile.map(([name, make]) => ({ name, make })))("survives $name, alone and inside", ({ make }) => {
    for (const redact of [true, false]) {
      for (const maxBytes of [64, 4096]) {
        write(make(), { maxBytes, redact })
        assert.include(textOf({ before: 1, it: make(), list: [make()] }, { maxBytes, redact }), '"before":1')
      }
    }
  })

  it("is undefined for a value that cannot be read at all", () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    assert.isUndefined(write(proxy, { maxBytes: 64, redact: true }))
    assert.strictEqual(
      textOf({
        a: 1,
        toJSON() {
          throw new Error("no")
        }
      }),
      '"[unreadable]"'
    )
  })

  it("gives a readable form to what JSON does not know", () => {
    class Point {
      readonly x = 3
      get length() {
        return this.x
      }
    }
    class Empty {}
    class Failure extends Data.TaggedError("Failure")<{ readonly code: number }> {}
    const cycle: Record<string, unknown> = { a: 1 }
    cycle["self"] = cycle
    for (const [value, form] of [
      [10n, "10n"],
      [Symbol("s"), "Symbol(s)"],
      [function run() {}, "[Function run]"],
      [() => 1, "[Function anonymous]"],
      [Point, "[Function Point]"],
      [undefined, null],
      [Number.NaN, "NaN"],
      [Number.NEGATIVE_INFINITY, "-Infinity"],
      [new Date(0), "1970-01-01T00:00:00.000Z"],
      [new Date(Number.NaN), "Invalid Date"],
      [/a+/gi, "/a+/gi"],
      [new URL("https://example.com/a"), "https://example.com/a"],
      [
        new Map<unknown, unknown>([
          ["a", 1],
          [2, "b"],
          [{}, 3]
        ]),
        { a: 1, 2: "b", "[Object]": 3 }
      ],
      [new Set([1, "a"]), [1, "a"]],
      [new TypeError("boom"), { name: "TypeError", message: "boom" }],
      [
        Object.assign(new Error("boom"), { code: "ENOENT" }),
        { name: "Error", message: "boom", code: "ENOENT" }
      ],
      [new Failure({ code: 7 }), { _tag: "Failure", code: 7 }],
      [Buffer.from("secret"), "[Buffer 6 bytes]"],
      [new Float64Array(4), "[Float64Array 32 bytes]"],
      [new ArrayBuffer(8), "[ArrayBuffer 8 bytes]"],
      [new DataView(new ArrayBuffer(8)), "[DataView 8 bytes]"],
      [Object("s"), "s"],
      [Object(1), 1],
      [Object(1n), "1n"],
      [Object(false), false],
      [new Point(), { x: 3 }],
      [new Empty(), "[Empty]"],
      [Promise.resolve(), "[Promise]"],
      [Option.some(1), { _id: "Option", _tag: "Some", value: 1 }],
      [cycle, { a: 1, self: "[circular]" }],
      [
        {
          get a() {
            throw new Error("no")
          },
          b: 1
        },
        { a: "[unreadable]", b: 1 }
      ],
      [
        [
          {
            toJSON() {
              throw new Error("no")
            }
          }
        ],
        ["[unreadable]"]
      ],
      [Object.create(null), {}],
      [{ a: undefined, b: 1 }, { b: 1 }]
    ] as const) {
      assert.deepStrictEqual(shown([value]), [form])
    }
    assert.strictEqual(textOf(new Array(3)), "[null,null,null]")
    assert.strictEqual(textOf(JSON.parse('{"__proto__":{"a":1}}')), '{"__proto__":{"a":1}}')
  })

  it("shows a shared object wherever it stands", () => {
    const shared = { a: 1 }
    assert.deepStrictEqual(shown([shared, { shared }]), [{ a: 1 }, { shared: { a: 1 } }])
  })

  it("never shows what an Effect Redacted holds", () => {
    assert.deepStrictEqual(shown({ a: Redacted.make("hunter2"), b: [Redacted.make({ c: 1 })] }), {
      a: "[REDACTED]",
      b: ["[REDACTED]"]
    })
    assert.notInclude(textOf(Option.some(Redacted.make("hunter2"))), "hunter2")
  })

  it("cuts inside values, so that the short ones stay", () => {
    assert.deepStrictEqual(shown({ content: "x".repeat(5e7), path: "/a/b", mode: 3 }, { maxBytes: 64 }), {
      content: `${"x".repeat(13)}…`,
      path: "/a/b",
      mode: 3
    })
    const rows = Array.from({ length: 1000 }, (_, id) => ({ id }))
    assert.deepStrictEqual(shown({ rows, query: "all" }, { maxBytes: 120 }), {
      rows: [{ id: 0 }, { id: 1 }, "… 998 more"],
      query: "all"
    })
    assert.deepStrictEqual(
      shown(Object.fromEntries(rows.map(({ id }) => [`f${id}`, id])), { maxBytes: 64 }),
      {
        f0: 0,
        f1: 1,
        f2: 2,
        f3: 3,
        f4: 4,
        f5: 5,
        "…": "994 more"
      }
    )
    assert.deepStrictEqual(shown({ ["k".repeat(300)]: 1, b: 2 }, { maxBytes: 64 }), {
      [`${"k".repeat(18)}…`]: 1,
      b: 2
    })
  })

  it("never cuts inside a character", () => {
    for (const char of ["é", "€", "😀", "\n", '"', "\u0001"]) {
      for (let maxBytes = 64; maxBytes < 90; maxBytes++) {
        assert.match(
          String(shown(char.repeat(100), { maxBytes })),
          new RegExp(`^(?:${char === "\u0001" ? "\\u0001" : char})+…$`, "u")
        )
      }
    }
  })

  it("does no more work for a huge value than for its cap", () => {
    let reads = 0
    const counting = (length: number): unknown =>
      new Proxy([], { get: (_, key) => (key === "length" ? length : key === "toJSON" ? undefined : ++reads) })
    const text = "lorem ipsum ".repeat(5e6)
    const set = new Set(Array.from({ length: 1e5 }, (_, i) => i))
    for (let i = 0; i < 200; i++) {
      textOf({ a: counting(1e9), b: text, c: set }, { maxBytes: 256, redact: true })
    }
    assert.isBelow(reads / 200, 2000)
  })

  describe("with redaction", () => {
    /** Puts a value at a random place among noise. */
    const buried = (value: unknown): fc.Arbitrary<unknown> =>
      fc
        .array(
          fc.tuple(fc.nat(6), noise, fc.dictionary(fc.constantFrom("a", "b", "c", "long name"), noise)),
          { maxLength: 6 }
        )
        .map((levels) =>
          levels.reduce<unknown>((inner, [kind, text, fields]) => {
            switch (kind) {
              case 0:
                return [text, inner, text]
              case 1:
                return { ...fields, it: inner }
              case 2:
                return { it: inner, ...fields }
              case 3:
                return new Map<string, unknown>([
                  ["it", inner],
                  ["text", text]
                ])
              case 4:
                return new Set([text, inner])
              case 5:
                return { toJSON: () => ({ it: inner, text }) }
              default:
                return Object.assign(new Error(text), { inner })
            }
          }, value)
        )

    const plant = <A>(secrets: fc.Arbitrary<A>, place: (secret: A) => unknown) =>
      fc
        .tuple(secrets, caps)
        .chain(([secret, maxBytes]) => buried(place(secret)).map((value) => ({ value, secret, maxBytes })))

    it("shows nothing of a value under a secret's name, at any depth and cap", () => {
      const named = fc.tuple(
        opaque,
        fc.constantFrom("password", "api_key", "Authorization", "accessToken", "Set-Cookie")
      )
      const places: ReadonlyArray<(name: string, secret: string) => unknown> = [
        (name, secret) => ({ [name]: secret }),
        (name, secret) => ({ [name]: [secret, { a: secret }] }),
        (name, secret) => new Map([[name, secret]]),
        (name, secret) => ({ name, value: secret }),
        (name, secret) => ({ key: name, value: secret }),
        (name, secret) => [name, secret],
        (name, secret) => JSON.stringify({ [name]: secret })
      ]
      fc.assert(
        fc.property(
          fc.constantFrom(...places).chain((place) => plant(named, ([secret, name]) => place(name, secret))),
          ({ value, secret: [secret], maxBytes }) => {
            assert.strictEqual(leak(textOf(value, { maxBytes, redact: true }), secret), undefined)
          }
        ),
        { numRuns: 2000 }
      )
    })

    it("shows nothing of what looks like a secret, as a value, in a text or as a name, at any depth and cap", () => {
      const places: ReadonlyArray<(text: string) => unknown> = [
        (text) => text,
        (text) => `${"lorem ipsum ".repeat(30)}${text} dolor`,
        (text) => ({ [text]: 1 }),
        (text) => new Error(`failed with ${text}`),
        (text) => new Map([[text, text]])
      ]
      const planted = fc.oneof(...looks.map(([, planted]) => planted))
      fc.assert(
        fc.property(
          fc.constantFrom(...places).chain((place) => plant(planted, ({ text }) => place(text))),
          ({ value, secret: { secret }, maxBytes }) => {
            // Inside a JSON string the secret's own characters may be escaped; so they are in the secret that is looked for.
            const text = textOf(value, { maxBytes, redact: true })
            assert.strictEqual(leak(text, JSON.stringify(secret).slice(1, -1)), undefined)
          }
        ),
        { numRuns: 3000 }
      )
    })

    it("shows nothing of a field that the schema marks, at any cap, with redaction or without", () => {
      const schema = Schema.Struct({
        note: Schema.String,
        rows: Schema.Array(Schema.Struct({ note: Schema.String, odd: sensitive(Schema.Unknown) }))
      })
      const mask = maskOf(schema)
      fc.assert(
        fc.property(opaque, noise, caps, fc.boolean(), (secret, note, maxBytes, redact) => {
          const value = {
            note,
            rows: [
              { note, odd: secret },
              { note, odd: { a: [secret] } },
              { odd: 1, note }
            ]
          }
          assert.strictEqual(leak(textOf(value, { maxBytes, redact, mask }), secret), undefined)
        })
      )
    })

    it("masks card numbers that are numbers, and leaves other large numbers", () => {
      assert.deepStrictEqual(
        shown([4111111111111111, 4111111111111112, 1700000000000, 5500000000000004n], { redact: true }),
        ["[REDACTED]", 4111111111111112, 1700000000000, "[REDACTED]n"]
      )
    })

    it("keeps names, nulls, flags and amounts", () => {
      const value = {
        password: null,
        secret: false,
        max_tokens: 5,
        token: "",
        nothing: undefined,
        path: "/a"
      }
      assert.deepStrictEqual(shown(value, { redact: true }), {
        password: null,
        secret: false,
        max_tokens: 5,
        token: "[REDACTED]",
        path: "/a"
      })
    })

    it("shows everything else as it is", () => {
      fc.assert(
        fc.property(fc.dictionary(fc.constantFrom("a", "b", "path", "query"), noise), (value) => {
          assert.deepStrictEqual(shown(value, { redact: true }), value)
        })
      )
    })
  })

  it("makes an object of any value where asked to, within the cap", () => {
    assert.deepStrictEqual(shown([1, 2], { field: "value" }), { value: [1, 2] })
    assert.deepStrictEqual(shown("x", { field: "result" }), { result: "x" })
    assert.deepStrictEqual(shown(new Date(0), { field: "result" }), { result: "1970-01-01T00:00:00.000Z" })
    assert.deepStrictEqual(shown({ a: 1 }, { field: "value" }), { a: 1 })
    assert.deepStrictEqual(shown("x".repeat(60), { field: "value", maxBytes: 64 }), {
      value: `${"x".repeat(49)}…`
    })
  })
})

describe("what announces a secret", () => {
  const redacted = (value: unknown) => write(value, { maxBytes: 4096, redact: true })?.text

  for (const [value, text] of [
    [["mysql", "--password", "hunter2!", "-h", "db"], '["mysql","--password","[REDACTED]","-h","db"]'],
    [
      ["Host", "a", "Cookie", "id=hunter2!", "Accept", "x"],
      '["Host","a","Cookie","[REDACTED]","Accept","x"]'
    ],
    [{ Name: "API_KEY", Value: "hunter2!" }, '{"Name":"API_KEY","Value":"[REDACTED]"}'],
    [{ field: "password", val: "hunter2!" }, '{"field":"password","val":"[REDACTED]"}'],
    [{ name: "city", value: "Berlin" }, '{"name":"city","value":"Berlin"}'],
    [["ls", "--color", "auto"], '["ls","--color","auto"]'],
    [["secret", "garden", "tour"], '["secret","garden","tour"]']
  ] as const) {
    it(JSON.stringify(value), () => assert.strictEqual(redacted(value), text))
  }
})
