/** The tool as a model calls it: what it reads back, what needs an approval, what stands on the span. */
import { assert, describe, it } from "@effect/vitest"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as AnthropicTools from "../../../src/anthropic/AnthropicTools.ts"
import * as BashHandler from "../../../src/anthropic/bash/BashHandler.ts"
import * as BashSession from "../../../src/anthropic/bash/BashSession.ts"
import * as ContentPolicy from "../../../src/content/ContentPolicy.ts"
import * as RecordedSpans from "../../../src/testing/RecordedSpans.ts"
import * as Shells from "./Shells.ts"

const toolkit = Toolkit.make(AnthropicTools.Bash_20250124())

const called = (params: { readonly command?: string; readonly restart?: boolean }) =>
  Effect.gen(function* () {
    const { handle } = yield* toolkit
    const results = yield* Stream.runCollect(yield* handle("AnthropicBash", params, "call_1"))
    const last = results.at(-1)
    if (last === undefined) throw new Error("no result")
    return last
  })

/** What the model reads. */
const said = (params: Parameters<typeof called>[0]) =>
  Effect.map(called(params), ({ encodedResult, isFailure }) => {
    assert.isFalse(isFailure, JSON.stringify(encodedResult))
    return encodedResult
  })

const withSession = <A, E, R>(effect: Effect.Effect<A, E, R>, options: BashSession.Options = {}) =>
  Effect.gen(function* () {
    const workingDirectory = yield* Shells.folder
    return yield* Effect.provide(
      effect,
      toolkit
        .toLayer(BashHandler.make)
        .pipe(Layer.provide(BashSession.layer({ workingDirectory, timeout: "20 seconds", ...options })))
    )
  }).pipe(Effect.scoped)

describe("the bash tool", () => {
  for (const [version, make] of [
    ["20241022", AnthropicTools.Bash_20241022],
    ["20250124", AnthropicTools.Bash_20250124]
  ] as const) {
    it(`${version} asks for every call, unless it is told otherwise, and has a schema of optional keys`, () => {
      const tool = make()
      assert.strictEqual(tool.needsApproval, true)
      assert.strictEqual(tool.id, `anthropic.bash_${version}`)
      assert.deepStrictEqual([tool.name, tool.providerName], ["AnthropicBash", "bash"])
      assert.strictEqual(make({ needsApproval: false }).needsApproval, false)
      const schema = Tool.getJsonSchema(tool)
      assert.deepStrictEqual(Object.keys(schema["properties"] as object).sort(), ["command", "restart"])
      assert.notProperty(schema, "required")
      const decode = Schema.decodeUnknownSync(Schema.toCodecJson(tool.parametersSchema))
      assert.deepStrictEqual(decode({ command: "ls" }), { command: "ls" })
      assert.deepStrictEqual(decode({ restart: true }), { restart: true })
      assert.throws(() => decode({ command: 1 }))
    })
  }

  it.live("gives the output, then the exit code", () =>
    withSession(
      Effect.gen(function* () {
        assert.strictEqual(yield* said({ command: "echo hello" }), "hello\n[exit code 0]")
        assert.strictEqual(yield* said({ command: "echo no >&2; false" }), "no\n[exit code 1]")
        assert.strictEqual(yield* said({ command: "true" }), "[exit code 0]")
      })
    )
  )

  it.live("says what else the model needs to know of its shell", () =>
    withSession(
      Effect.gen(function* () {
        assert.match(
          String(yield* said({ command: "exit 4" })),
          /^\[exit code 4\]\n\[That ended the shell, .* The next command starts a new one in \/.*\.\]$/
        )
        assert.match(
          String(yield* said({ command: "kill -9 $$" })),
          /^\[ended by SIGKILL\]\n\[That ended the shell/
        )
        assert.match(String(yield* said({ restart: true })), /^\[The shell was ended, .*\]$/)
        yield* said({ command: "a=1" })
        assert.strictEqual(yield* said({ command: 'echo "[$a]"', restart: true }), "[]\n[exit code 0]")
        yield* said({ command: "(sleep 0.05; echo late) &" })
        yield* said({ command: "wait" })
        yield* said({ command: "(sleep 0.02; echo late; touch done) & true" })
        const after = yield* said({ command: "while [ ! -e done ]; do sleep 0.01; done" })
        assert.strictEqual(after, "late\n[exit code 0]")
      })
    )
  )

  it.live("fails for the model, and not for the program", () =>
    withSession(
      Effect.gen(function* () {
        const nothing = yield* called({})
        assert.isTrue(nothing.isFailure)
        assert.deepInclude(nothing.encodedResult, { reason: "NothingToDo" })
        const late = yield* called({ command: "sleep 20" })
        assert.isTrue(late.isFailure)
        assert.deepInclude(late.encodedResult, { reason: "TimedOut" })
        assert.match(String(yield* said({ command: "echo on" })), /on\n\[exit code 0\]$/)
      }),
      { timeout: "300 millis" }
    )
  )
})

describe("the span of a command", () => {
  const traced = (command: string, policy: ContentPolicy.Options | undefined) =>
    Effect.gen(function* () {
      const recorded = yield* RecordedSpans.make
      yield* withSession(
        said({ command }).pipe(
          Effect.withSpan("execute_tool AnthropicBash"),
          Effect.withTracer(recorded.tracer),
          policy === undefined
            ? (effect) => effect
            : Effect.provideService(ContentPolicy.ContentPolicy, ContentPolicy.make(policy))
        )
      )
      return recorded
    })

  it.live("is named for the shell, and has its process, the exit code and the command, secrets masked", () =>
    Effect.gen(function* () {
      const recorded = yield* traced("echo token=sk-live-0123456789abcdefghijklmnop; exit 3", undefined)
      RecordedSpans.expectTrees(recorded, [
        {
          name: "execute_tool AnthropicBash",
          children: [
            {
              name: "bash",
              kind: "client",
              attributes: {
                "process.executable.name": "bash",
                "process.exit.code": 3,
                "process.pid": (value: unknown) => typeof value === "number" && value > 1,
                "process.command_line": (value: unknown) =>
                  typeof value === "string" && value.startsWith("echo ") && !value.includes("sk-live")
              }
            }
          ]
        }
      ])
    })
  )

  it.live("has no command where arguments are not captured", () =>
    Effect.gen(function* () {
      const recorded = yield* traced("echo hello", { arguments: "off" })
      const [span] = recorded.byName("bash")
      assert.isDefined(span)
      assert.notInclude(JSON.stringify([...Object.entries(span?.attributes ?? {})]), "hello")
    })
  )
})
