/**
 * An instrumented model against the same model bare: whatever a caller, a provider or a tool gets is the same, in the same order and at the
 * same time, except for the stamp on the tool calls of an answer that is traced.
 *
 * Each scenario is a conversation that is run bare, instrumented, and instrumented where nobody traces. What is compared is the log of each
 * run: every request that reaches the provider, every beginning and end of a handler, every chunk of an answer, how the answer ends, and the
 * history that is left.
 */
import * as NodeAssert from "node:assert/strict"
import { assert, describe, it } from "@effect/vitest"
import * as AiError from "effect/ai/AiError"
import * as Chat from "effect/ai/Chat"
import * as IdGenerator from "effect/ai/IdGenerator"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import * as Prompt from "effect/ai/Prompt"
import type * as Response from "effect/ai/Response"
import * as ResponseIdTracker from "effect/ai/ResponseIdTracker"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Ref from "effect/Ref"
import type * as References from "effect/References"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as TestClock from "effect/testing/TestClock"
import * as LanguageModelInstrumentation from "../../src/instrumentation/LanguageModelInstrumentation.ts"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import * as ToolCallContext from "../../src/propagation/ToolCallContext.ts"
import * as RecordedSpans from "../../src/testing/RecordedSpans.ts"
import * as ScriptedModel from "../../src/testing/ScriptedModel.ts"
import * as Payments from "../support/Payments.ts"
import * as Tools from "../support/Toolkits.ts"

/** What it takes and gives has another form on the way to and from the model. */
const Due = Tool.make("due", {
  parameters: Schema.Struct({ days: Schema.NumberFromString }),
  success: Schema.DateFromString
})

const kit = Toolkit.make(
  Tools.Greet,
  Tools.Order,
  Tools.TryOrder,
  Tools.Crash,
  Tools.Hang,
  Tools.Count,
  Tools.Progress,
  Payments.Pay,
  Payments.Refund,
  Payments.Search,
  Due
)
const instrumentedKit = ToolkitInstrumentation.instrument(kit)

type WithHandler = Toolkit.WithHandler<typeof kit.tools>
type Services = LanguageModel.LanguageModel | Tool.HandlersFor<typeof kit.tools>
type Note = (what: string, ...details: ReadonlyArray<unknown>) => Effect.Effect<void>

/** The handlers. Each notes how it begins and ends. */
const handlers = (note: Note) => {
  const noted = <A, E>(tool: string, id: string | undefined, params: unknown, handler: Effect.Effect<A, E>) =>
    Effect.andThen(
      note("handler begins", tool, id, params),
      Effect.onExit(handler, (exit) => note("handler ends", tool, id, exit._tag))
    )
  const order = ({ item }: { readonly item: string }) =>
    item === "unobtainium" ? Effect.fail(new Tools.OutOfStock({ item })) : Effect.succeed(`ordered ${item}`)
  return kit.toLayer({
    greet: (params, { toolCallId }) =>
      noted("greet", toolCallId, params, Effect.succeed({ greeting: `Hello, ${params.name}` })),
    order: (params, { toolCallId }) => noted("order", toolCallId, params, order(params)),
    try_order: (params, { toolCallId }) => noted("try_order", toolCallId, params, order(params)),
    crash: (params, { toolCallId }) =>
      noted("crash", toolCallId, params, Effect.die(new RangeError("secret detail"))),
    hang: (params, { toolCallId }) => noted("hang", toolCallId, params, Effect.never),
    // Takes as many seconds as it is asked to count.
    count: ({ result }, { toolCallId }) =>
      noted("count", toolCallId, result, Effect.delay(Effect.succeed(result), `${Math.abs(result)} seconds`)),
    progress: ({ steps }, { preliminary, toolCallId }) =>
      noted(
        "progress",
        toolCallId,
        steps,
        Effect.as(
          Effect.forEach(
            Array.from({ length: steps }, (_, step) => ({ step })),
            (step) => Effect.delay(preliminary(step), "1 second")
          ),
          { step: steps }
        )
      ),
    pay: ({ amount }, { toolCallId }) => noted("pay", toolCallId, amount, Effect.succeed(`paid ${amount}`)),
    refund: ({ amount }, { toolCallId }) =>
      noted("refund", toolCallId, amount, Effect.delay(Effect.succeed(`refunded ${amount}`), "1 second")),
    due: ({ days }, { toolCallId }) =>
      noted("due", toolCallId, days, Effect.succeed(new Date(days * 86_400_000)))
  })
}

/** What a call of a model is given. */
interface Ask
  extends Pick<
    LanguageModel.GenerateTextOptions<typeof kit.tools>,
    "prompt" | "concurrency" | "toolChoice" | "disableToolCallResolution" | "toolCallValidation"
  > {
  readonly toolkit?: unknown
}

/** What the provider answers to one request: parts, and how they break off, if they do. */
interface Turn {
  readonly parts: ReadonlyArray<ScriptedModel.Part>
  readonly broken?: Effect.Effect<never, AiError.AiError>
}

interface Scenario {
  readonly turns: ReadonlyArray<Turn>
  /** What is asked, one after the other; each sees the conversation so far. */
  readonly asks: (given: WithHandler) => ReadonlyArray<Ask>
  /** After how many seconds the caller gives up. */
  readonly patience?: number
}

const { finish, reasoning, text, toolCall, toolResult } = ScriptedModel

/** Also the object that `generateObject` asks for. */
const done = text('{"done":true}')
const Done = Schema.Struct({ done: Schema.Boolean })

const answer: Turn = { parts: [reasoning("easy"), done, finish()] }
const calling = (...calls: ReadonlyArray<ScriptedModel.Part>): Turn => ({
  parts: [done, ...calls, finish("tool-calls")]
})

const greet = toolCall("call_1", "greet", { name: "Ada" }, { metadata: { vendor: { signature: "s1" } } })

const asking =
  (prompt: Prompt.RawInput, options: Omit<Ask, "prompt"> = { toolkit: kit }) =>
  (): ReadonlyArray<Ask> => [{ ...options, prompt }]

const go = asking("go")

/** Calls that need an approval; ids of approvals are `id_1`, `id_2`, … in the order in which they are asked for. */
const pay = calling(toolCall("call_1", "pay", { amount: 5 }))
const payAndRefund = calling(
  toolCall("call_1", "pay", { amount: 5 }),
  toolCall("call_2", "refund", { amount: 500 })
)

const decisions = (...said: ReadonlyArray<readonly [approvalId: string, approved: boolean]>): Prompt.Prompt =>
  Prompt.fromMessages([
    Prompt.toolMessage({
      content: said.map(([approvalId, approved]) =>
        Prompt.toolApprovalResponsePart({ approvalId, approved, ...(!approved && { reason: "too much" }) })
      )
    })
  ])

const deciding =
  (prompt: Prompt.Prompt, options: Omit<Ask, "prompt"> = { toolkit: kit }) =>
  (): ReadonlyArray<Ask> => [
    { prompt: "go", toolkit: kit },
    { ...options, prompt }
  ]

const overloaded = AiError.make({
  module: "Provider",
  method: "chat",
  reason: new AiError.InternalProviderError({ description: "overloaded" })
})
const forgotten = AiError.make({
  module: "Provider",
  method: "chat",
  reason: new AiError.InvalidRequestError({ description: "no such response" })
})

const unresolved = { toolkit: kit, disableToolCallResolution: true } as const
const unknownCall = toolCall("call_1", "no_such_tool", { any: "thing" })
const badCall = (name: string) => toolCall("call_1", name, { item: 42 })
const searchCall = toolCall("srv_1", "web_search", { query: "effect" }, { providerExecuted: true })

const scenarios: Readonly<Record<string, Scenario>> = {
  "plain text": { turns: [answer], asks: asking("go", {}) },
  "plain text, where there are tools": { turns: [answer], asks: go },
  "a text that is not the object asked for": { turns: [{ parts: [text("no"), finish()] }], asks: go },
  "a toolkit without tools": { turns: [answer], asks: asking("go", { toolkit: Toolkit.empty }) },
  "a conversation of two turns, its responses with ids": {
    turns: [answer, answer].map(({ parts }, n) => ({
      parts: [{ type: "response-metadata", id: `resp_${n}` }, ...parts]
    })),
    asks: () => [
      { prompt: "go", toolkit: kit },
      { prompt: "and now?", toolkit: kit }
    ]
  },

  "a provider that has forgotten its response, and is given the whole conversation": {
    turns: [
      { parts: [{ type: "response-metadata", id: "resp_0" }, ...answer.parts] },
      { parts: [], broken: Effect.fail(forgotten) },
      answer
    ],
    asks: () => [
      { prompt: "go", toolkit: kit },
      { prompt: "and now?", toolkit: kit }
    ]
  },

  "one tool call, and the turn after it": {
    turns: [calling(greet), answer],
    asks: () => [
      { prompt: "go", toolkit: kit },
      { prompt: [], toolkit: kit }
    ]
  },
  "a tool with other forms on the wire": {
    turns: [calling(toolCall("call_1", "due", { days: "3" }))],
    asks: go
  },
  "calls in parallel that take different times": {
    turns: [calling(...[3, 1, 2].map((n) => toolCall(`call_${n}`, "count", { result: n })))],
    asks: go
  },
  "calls that may only run one after the other": {
    turns: [calling(...[3, 1, 2].map((n) => toolCall(`call_${n}`, "count", { result: n })))],
    asks: asking("go", { toolkit: kit, concurrency: 1 })
  },
  "two calls of one id": { turns: [calling(greet, greet)], asks: go },
  "a choice of tools": {
    turns: [calling(greet)],
    asks: asking("go", { toolkit: kit, toolChoice: { oneOf: ["greet", "count"] } })
  },
  "preliminary results": { turns: [calling(toolCall("call_1", "progress", { steps: 3 }))], asks: go },

  "a handler that fails": {
    turns: [calling(toolCall("call_1", "order", { item: "unobtainium" }))],
    asks: go
  },
  "a handler that fails while another one runs": {
    turns: [
      calling(
        toolCall("call_1", "count", { result: 2 }),
        toolCall("call_2", "order", { item: "unobtainium" })
      )
    ],
    asks: go
  },
  "a failure that is returned": {
    turns: [calling(toolCall("call_1", "try_order", { item: "unobtainium" }))],
    asks: go
  },
  "a handler that dies": { turns: [calling(toolCall("call_1", "crash", {}))], asks: go },
  "a result that the tool does not allow": {
    turns: [calling(toolCall("call_1", "count", { result: -1 }))],
    asks: go
  },
  "bad parameters": { turns: [calling(badCall("order"))], asks: go },
  "bad parameters of a tool that returns failures": { turns: [calling(badCall("try_order"))], asks: go },
  "bad parameters that nobody resolves": {
    turns: [calling(badCall("order"))],
    asks: asking("go", unresolved)
  },
  "an unknown tool": { turns: [calling(unknownCall)], asks: go },
  "an unknown tool whose validation is deferred": {
    turns: [calling(unknownCall, badCall("order"))],
    asks: asking("go", { ...unresolved, toolCallValidation: "deferred" })
  },
  "calls that nobody resolves": { turns: [calling(greet, searchCall)], asks: asking("go", unresolved) },

  "an approval that is asked for": { turns: [payAndRefund], asks: go },
  "an approval that only some parameters need": {
    turns: [
      calling(toolCall("call_1", "refund", { amount: 1 }), toolCall("call_2", "refund", { amount: 500 }))
    ],
    asks: go
  },
  "a call that is approved in a later turn": {
    turns: [pay, answer],
    asks: deciding(decisions(["id_1", true]))
  },
  "a call that is denied in a later turn": {
    turns: [pay, answer],
    asks: deciding(decisions(["id_1", false]))
  },
  "two calls that are decided in the reverse order, one of them denied": {
    turns: [payAndRefund, answer],
    asks: deciding(decisions(["id_2", true], ["id_1", false]))
  },
  "one decision while another one is still to come": {
    turns: [payAndRefund, answer, answer],
    asks: () => [
      ...deciding(decisions(["id_2", true]))(),
      { prompt: decisions(["id_1", true]), toolkit: kit }
    ]
  },
  "a decision that comes twice at once": {
    turns: [pay, answer],
    asks: deciding(decisions(["id_1", true], ["id_1", true]))
  },
  "a decision that comes again": {
    turns: [pay, answer, answer],
    asks: () => [
      ...deciding(decisions(["id_1", true]))(),
      { prompt: decisions(["id_1", true]), toolkit: kit }
    ]
  },
  "an approved call while the toolkit is missing": {
    turns: [payAndRefund],
    asks: deciding(decisions(["id_2", false], ["id_1", true]), {})
  },
  "an approved call while the toolkit is empty": {
    turns: [pay],
    asks: deciding(decisions(["id_1", true]), { toolkit: Toolkit.empty })
  },
  "an approved call whose tool is gone": {
    turns: [pay],
    asks: deciding(decisions(["id_1", true]), { toolkit: Payments.searchable })
  },

  "a tool that the provider executes": {
    turns: [calling(searchCall, toolResult("srv_1", "web_search", { hits: 3 }), greet)],
    asks: go
  },
  "a tool that the provider executes with bad parameters": {
    turns: [calling(toolCall("srv_1", "web_search", {}, { providerExecuted: true }))],
    asks: go
  },
  "a call that the token limit cuts off": {
    turns: [{ parts: [done, greet, toolCall("call_2", "pay", { amount: 5 }), finish("length")] }, answer],
    asks: () => [
      { prompt: "go", toolkit: kit },
      { prompt: "and now?", toolkit: kit }
    ]
  },
  "a provider that fails before its first part": {
    turns: [{ parts: [], broken: Effect.fail(overloaded) }],
    asks: go
  },
  "a provider that fails in the middle": {
    turns: [{ parts: [done, toolCall("call_1", "hang", {}), done], broken: Effect.fail(overloaded) }],
    asks: go
  },
  "a provider that fails in the middle, where there are no tools": {
    turns: [{ parts: [done], broken: Effect.fail(overloaded) }],
    asks: asking("go", {})
  },
  "a provider that dies in the middle": {
    turns: [{ parts: [greet, done], broken: Effect.die(new Error("connection lost")) }],
    asks: go
  },
  "a caller that gives up while a handler runs": {
    turns: [calling(greet, toolCall("call_2", "hang", {}))],
    asks: go,
    patience: 3
  },
  "a caller that gives up while the provider thinks": {
    turns: [{ parts: [done, greet, done], broken: Effect.never }],
    asks: go,
    patience: 10
  },

  "a toolkit that is given with its handlers": {
    turns: [calling(greet)],
    asks: (given) => [{ prompt: "go", toolkit: given }]
  },
  "a toolkit that is given as an effect": {
    turns: [calling(greet)],
    asks: (given) => [{ prompt: "go", toolkit: Effect.delay(Effect.succeed(given), "1 second") }]
  },
  "a toolkit that cannot be had": {
    turns: [],
    asks: asking("go", { toolkit: Effect.fail(new Tools.OutOfStock({ item: "tools" })) })
  },
  "a toolkit that is instrumented already": {
    turns: [calling(greet, toolCall("call_2", "due", { days: "3" }))],
    asks: asking("go", { toolkit: instrumentedKit })
  },
  "a toolkit that is instrumented already, with its handlers": {
    turns: [calling(greet)],
    asks: (given) => [{ prompt: "go", toolkit: ToolkitInstrumentation.instrument(given) }]
  },

  "a prompt of encoded messages": {
    turns: [calling(greet)],
    asks: asking([
      { role: "system", content: "Be brief." },
      { role: "user", content: [{ type: "text", text: "go" }] }
    ])
  },
  "a prompt that can be read once": {
    turns: [calling(greet)],
    asks: () => [
      {
        prompt: (function* (): Generator<Prompt.MessageEncoded> {
          yield { role: "system", content: "Be brief." }
          yield { role: "user", content: "go" }
        })(),
        toolkit: kit
      }
    ]
  },
  "a prompt that cannot be read to its end": {
    turns: [answer],
    asks: () => [
      {
        prompt: (function* (): Generator<Prompt.MessageEncoded> {
          yield { role: "user", content: "go" }
          throw new RangeError("the store is gone")
        })(),
        toolkit: kit
      }
    ]
  },
  "a prompt that was never decoded": {
    turns: [calling(greet)],
    asks: asking(JSON.parse(JSON.stringify(Prompt.make("go"))))
  },
  "a prompt that is no messages": {
    turns: [],
    asks: asking(JSON.parse('[{ "role": "nobody" }, { "role": "user", "content": [{ "type": "text" }] }]'))
  }
}

/** How a model is asked; `chunk`: how many parts of a streamed answer arrive at once. */
interface Asking {
  readonly name: string
  readonly method: "generateText" | "generateObject" | "streamText"
  readonly chunk: number
}

const textAsking: Asking = { name: "generateText", method: "generateText", chunk: 1 }
const allAtOnce: Asking = { name: "streamText, all parts at once", method: "streamText", chunk: 1000 }
const partByPart: Asking = { name: "streamText, part by part", method: "streamText", chunk: 1 }
const askings: ReadonlyArray<Asking> = [
  textAsking,
  { name: "generateObject", method: "generateObject", chunk: 1 },
  allAtOnce,
  partByPart,
  { name: "streamText, two parts at a time", method: "streamText", chunk: 2 }
]

/** Directly: the conversation goes through JSON from turn to turn. */
type Way = "directly" | "through a Chat"
const ways: ReadonlyArray<Way> = ["directly", "through a Chat"]

type Part = Payments.Part

interface Generated {
  readonly content: Array<Part>
}

/** A model, or a chat, seen from where the types of prompts and tools do not matter. */
interface Asked {
  readonly generateText: (options: Ask) => Effect.Effect<Generated, unknown, Services>
  readonly generateObject: (
    options: Ask & { readonly schema: typeof Done }
  ) => Effect.Effect<Generated, unknown, Services>
  readonly streamText: (options: Ask) => Stream.Stream<Part, unknown, Services>
}

// The boundary where those types end: what is asked here is checked by the scenarios.
const untyped = (model: LanguageModel.LanguageModel | Chat.Chat): Asked => model as unknown as Asked

type Decorate = (model: LanguageModel.LanguageModel) => LanguageModel.LanguageModel

const bare: Decorate = (model) => model
const instrumented: Decorate = (model) => LanguageModelInstrumentation.instrument(model)

/** What is seen of one run. */
interface Observation {
  /** Everything that can be seen, in its order, each with the time at which it was. Stamps are taken off. */
  readonly events: ReadonlyArray<unknown>
  /** For each tool call of the answers that is not the provider's: whether it has a stamp. */
  readonly stamps: ReadonlyArray<boolean>
}

const observe = Effect.fn(function* (
  { asks, patience = 1000, turns }: Scenario,
  { chunk, method }: Asking,
  way: Way,
  decorate: Decorate
) {
  const start = yield* Clock.currentTimeMillis
  const events: Array<unknown> = []
  const stamps: Array<boolean> = []
  const note: Note = (...event) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      events.push([now - start, ...event])
    })

  const ask = (asked: Asked, options: Ask): Effect.Effect<ReadonlyArray<Part>, never, Services> => {
    const received: Array<Part> = []
    const receive = (parts: ReadonlyArray<Part>) => {
      received.push(...parts)
      stamps.push(
        ...parts.filter(isStampable).map((part) => Object.hasOwn(part.metadata, ToolCallContext.KEY))
      )
      return note("received", parts.map(unstamped))
    }
    const responded = (response: Generated) => {
      const { content, ...rest } = response
      return Effect.as(receive(content), { ...rest, class: response.constructor })
    }
    const answer: Effect.Effect<unknown, unknown, Services> =
      method === "streamText"
        ? Stream.runForEachArray(asked.streamText(options), receive)
        : method === "generateText"
          ? Effect.flatMap(asked.generateText(options), responded)
          : Effect.flatMap(asked.generateObject({ ...options, schema: Done }), responded)
    return answer.pipe(
      Effect.timeout(`${patience} seconds`),
      Effect.exit,
      Effect.flatMap((exit) => note("end", ending(exit))),
      Effect.as(received)
    )
  }

  const model = decorate(yield* scripted(turns, chunk, note))
  yield* Effect.gen(function* () {
    const given = asks(yield* kit)
    if (way === "through a Chat") {
      const chat = yield* Chat.empty
      for (const options of given) yield* ask(untyped(chat), options)
      yield* note("history", promptOf(yield* Ref.get(chat.history)))
      return
    }
    let soFar: Prompt.Prompt | undefined
    for (const options of given) {
      const prompt = soFar === undefined ? options.prompt : Prompt.concat(soFar, options.prompt)
      const parts = yield* ask(untyped(model), { ...options, prompt })
      if (given.length > 1) soFar = Payments.after(Prompt.make(prompt), parts)
    }
  }).pipe(
    settled,
    Effect.provide(handlers(note)),
    Effect.provideService(LanguageModel.LanguageModel, model),
    Effect.provideService(ResponseIdTracker.ResponseIdTracker, yield* ResponseIdTracker.make)
  )
  const observation: Observation = { events, stamps }
  return observation
})

/** Runs a program to its end: what takes an hour takes no time. It begins with a sleep, since the clock waits for what it has woken. */
const settled = <A, E, R>(program: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    const fiber = yield* Effect.forkChild(Effect.delay(program, 1))
    yield* TestClock.adjust("1 hour")
    return yield* Fiber.join(fiber)
  })

/** A model whose provider answers from a script, a second for each chunk. Its ids are counted. */
const scripted = (turns: ReadonlyArray<Turn>, chunk: number, note: Note) =>
  Effect.suspend(() => {
    let requests = 0
    let ids = 0
    const next = ({ incrementalPrompt, prompt, span, ...request }: LanguageModel.ProviderOptions) =>
      Effect.andThen(
        note("request", {
          ...request,
          prompt: promptOf(prompt),
          incrementalPrompt: incrementalPrompt && promptOf(incrementalPrompt),
          span: span.name
        }),
        Effect.suspend(() => {
          const turn = turns[requests++]
          return turn === undefined ? Effect.die(new Error("there is no such turn")) : Effect.succeed(turn)
        })
      )
    return LanguageModel.make({
      generateText: (request) =>
        Effect.flatMap(next(request), ({ broken, parts }) => broken ?? Effect.succeed([...parts])),
      streamText: (request) =>
        Stream.unwrap(
          Effect.map(next(request), ({ broken, parts }) =>
            Stream.fromIterable(parts.flatMap(streamed)).pipe(
              Stream.rechunk(chunk),
              Stream.mapArrayEffect((parts) => Effect.delay(Effect.succeed(parts), "1 second")),
              Stream.concat(Stream.fromEffect(broken ?? Effect.succeed(undefined)).pipe(Stream.drain))
            )
          )
        )
    }).pipe(
      Effect.provideService(IdGenerator.IdGenerator, { generateId: () => Effect.sync(() => `id_${++ids}`) })
    )
  })

const streamed = (part: ScriptedModel.Part): ReadonlyArray<Response.StreamPartEncoded> => {
  switch (part.type) {
    case "text":
      return [
        { type: "text-start", id: "t" },
        { type: "text-delta", id: "t", delta: part.text },
        { type: "text-end", id: "t" }
      ]
    case "reasoning":
      return [
        { type: "reasoning-start", id: "r" },
        { type: "reasoning-delta", id: "r", delta: part.text },
        { type: "reasoning-end", id: "r" }
      ]
    default:
      return [part]
  }
}

/** A call that is not the provider's: one that may run later. */
const isStampable = <Part extends { readonly type: string }>(
  part: Part
): part is Extract<Part, { readonly type: "tool-call" }> =>
  part.type === "tool-call" && "providerExecuted" in part && part.providerExecuted === false

/** A part of an answer without the stamp; one that has none is the very same. */
const unstamped = (part: Part): Part => {
  if (!isStampable(part) || !(ToolCallContext.KEY in part.metadata)) return part
  const { [ToolCallContext.KEY]: _, ...metadata } = part.metadata
  return { ...part, metadata }
}

/** The messages of a prompt, their tool calls without stamps. */
const promptOf = (prompt: Prompt.Prompt): unknown =>
  prompt.content.map((message) =>
    message.role === "assistant"
      ? {
          ...message,
          content: message.content.map((part) => {
            if (!isStampable(part)) return part
            const { [ToolCallContext.KEY]: _, ...options } = part.options
            return { ...part, options }
          })
        }
      : message
  )

/** How an answer ended, but for what is never the same twice: the numbers of fibers, and the functions in their frames. */
const ending = (exit: Exit.Exit<unknown, unknown>): unknown =>
  Exit.isSuccess(exit)
    ? exit.value
    : exit.cause.reasons.map((reason) => {
        const said = Cause.reasonAnnotations(reason)
        const {
          [Cause.StackTrace.key]: _,
          [Cause.InterruptorStackTrace.key]: __,
          ...annotations
        } = Object.fromEntries(reason.annotations)
        return {
          ...reason,
          fiberId: undefined,
          annotations,
          frames: namesOf(Context.getOrUndefined(said, Cause.StackTrace)),
          interruptorFrames: namesOf(Context.getOrUndefined(said, Cause.InterruptorStackTrace))
        }
      })

const namesOf = (frame: References.StackFrame | undefined): ReadonlyArray<string> =>
  frame === undefined ? [] : [frame.name, ...namesOf(frame.parent)]

/** The test runner's own compares of two errors little more than their messages, and takes a missing key for one that is undefined. */
const same = (actual: unknown, expected: unknown): void => NodeAssert.deepStrictEqual(actual, expected)

/** The same program with three models: bare, instrumented, and instrumented where nobody traces. */
const runs = <A, E, R>(
  program: (decorate: Decorate) => Effect.Effect<A, E, R>,
  decorate: Decorate = instrumented
) =>
  Effect.all({
    plain: Effect.provide(program(bare), RecordedSpans.layer),
    traced: Effect.provide(program(decorate), RecordedSpans.layer),
    untraced: program(decorate)
  })

/** Asserts that a decorated model gives what the bare one gives, with stamps if and only if somebody traces. */
const expectParity = Effect.fn(function* (scenario: Scenario, asking: Asking, way: Way, decorate?: Decorate) {
  const { plain, traced, untraced } = yield* runs(
    (decorate) => observe(scenario, asking, way, decorate),
    decorate
  )
  same(traced.events, plain.events)
  same(untraced.events, plain.events)
  const all = (stamped: boolean) => plain.stamps.map(() => stamped)
  same(plain.stamps, all(false))
  same(traced.stamps, all(true))
  same(untraced.stamps, all(false))
})

describe.each(askings)("asked with $name, an instrumented model gives what the bare one gives:", (asking) => {
  for (const [name, scenario] of Object.entries(scenarios)) {
    it.effect(name, () =>
      Effect.forEach(ways, (way) => expectParity(scenario, asking, way), { discard: true })
    )
  }
})

/** A decorator. */
const changing =
  (change: (model: Asked) => Partial<Asked>): Decorate =>
  // The boundary of a decorator: it passes on whatever it is given.
  (model) =>
    ({ ...model, ...change(untyped(model)) }) as unknown as LanguageModel.LanguageModel

describe("the comparison would notice a model that", () => {
  const changed =
    (change: (model: Asked) => Partial<Asked>): Decorate =>
    (model) =>
      changing(change)(instrumented(model))
  const noticed: Readonly<Record<string, readonly [Asking, Decorate]>> = {
    "is not instrumented": [textAsking, bare],
    "stamps under another key": [
      partByPart,
      changed(({ streamText }) => ({
        streamText: (options) =>
          Stream.map(
            streamText(options),
            (part): Part =>
              part.type === "tool-call" ? { ...part, metadata: { ...part.metadata, trace: {} } } : part
          )
      }))
    ],
    "loses what else is in the metadata": [
      partByPart,
      changed(({ streamText }) => ({
        streamText: (options) =>
          Stream.map(
            streamText(options),
            (part): Part =>
              part.type === "tool-call" ? { ...part, metadata: { [ToolCallContext.KEY]: {} } } : part
          )
      }))
    ],
    "has other chunks": [
      allAtOnce,
      changed(({ streamText }) => ({ streamText: (options) => Stream.rechunk(streamText(options), 1) }))
    ],
    "answers later": [
      textAsking,
      changed(({ generateText }) => ({ generateText: (options) => Effect.delay(generateText(options), 1) }))
    ],
    "asks the provider twice": [
      textAsking,
      changed(({ generateText }) => ({
        generateText: (options) => Effect.andThen(Effect.exit(generateText(options)), generateText(options))
      }))
    ]
  }
  for (const [name, [asking, decorate]] of Object.entries(noticed)) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const scenario: Scenario = { turns: [calling(greet), answer], asks: go }
        for (const way of ways) {
          yield* expectParity(scenario, asking, way)
          const exit = yield* Effect.exit(expectParity(scenario, asking, way, decorate))
          assert(Exit.isFailure(exit))
          assert.instanceOf(Cause.squash(exit.cause), NodeAssert.AssertionError)
        }
      })
    )
  }
})

/** A model of one streamed answer. */
const streaming = (parts: Stream.Stream<Response.StreamPartEncoded>) =>
  LanguageModel.make({
    generateText: () => Effect.die(new Error("not asked for")),
    streamText: () => parts
  })

describe.each([
  {
    name: "without tools",
    options: {},
    first: { type: "reasoning-start", id: "r" },
    stopped: ["the provider is stopped"]
  },
  {
    name: "with tools",
    options: { toolkit: kit },
    first: toolCall("call_1", "hang", {}),
    stopped: ["the provider is stopped", "handler ends"]
  }
] as const)("the stream of an instrumented model, $name,", ({ first, options, stopped }) => {
  it.effect("gives each part out before the next one goes in", () =>
    Effect.gen(function* () {
      const parts: ReadonlyArray<Response.StreamPartEncoded> = [done, text("bye")].flatMap(streamed)
      const inStep = Effect.fn(function* (decorate: Decorate) {
        const events: Array<string> = []
        const provider = yield* Queue.make<Response.StreamPartEncoded, Cause.Done>()
        let next = 0
        const give = Effect.suspend(() => {
          const part = parts[next++]
          if (part === undefined) return Queue.end(provider)
          events.push(`in: ${part.type}`)
          return Queue.offer(provider, part)
        })
        const model = decorate(yield* streaming(Stream.fromQueue(provider)))
        yield* give
        yield* Stream.runForEach(untyped(model).streamText({ ...options, prompt: "go" }), (part) => {
          events.push(`out: ${part.type}`)
          return give
        }).pipe(
          // A part that is held back stops both sides.
          Effect.timeout("1 minute"),
          settled,
          Effect.provide(handlers(() => Effect.void)),
          Effect.provideService(LanguageModel.LanguageModel, model)
        )
        return events
      })
      const { plain, traced, untraced } = yield* runs(inStep)
      assert.deepStrictEqual(
        plain,
        parts.flatMap(({ type }) => [`in: ${type}`, `out: ${type}`])
      )
      assert.deepStrictEqual(traced, plain)
      assert.deepStrictEqual(untraced, plain)
    })
  )

  type Leave = (stream: Stream.Stream<Part, unknown, Services>) => Effect.Effect<unknown, unknown, Services>
  const leaving: Readonly<Record<string, Leave>> = {
    "takes what it needs": (stream) => Stream.runDrain(Stream.take(stream, 4)),
    fails: (stream) =>
      Effect.exit(
        Stream.runForEach(stream, (part) => (part.type === "text-end" ? Effect.fail("enough") : Effect.void))
      ),
    "is interrupted": (stream) =>
      Effect.gen(function* () {
        const seen = yield* Deferred.make<void>()
        const reading = yield* Effect.forkChild(
          Stream.runForEach(stream, (part) =>
            part.type === "text-end" ? Deferred.succeed(seen, undefined) : Effect.void
          )
        )
        yield* Deferred.await(seen)
        yield* Fiber.interrupt(reading)
      })
  }
  for (const [how, leave] of Object.entries(leaving)) {
    it.effect(`stops all that it runs, as the bare one does, when its reader ${how}`, () =>
      Effect.gen(function* () {
        const left = Effect.fn(function* (decorate: Decorate) {
          const events: Array<string> = []
          const note = (event: string) =>
            Effect.sync(() => {
              events.push(event)
            })
          const provider = Stream.make(first, ...streamed(done)).pipe(
            Stream.rechunk(1),
            Stream.tap((part) => Effect.delay(note(`in: ${part.type}`), "1 second")),
            Stream.concat(Stream.never),
            Stream.onExit(() => note("the provider is stopped"))
          )
          const model = decorate(yield* streaming(provider))
          const stream = untyped(model).streamText({ ...options, prompt: "go" })
          yield* leave(Stream.tap(stream, (part) => note(`out: ${part.type}`))).pipe(
            Effect.timeout("1 minute"),
            settled,
            Effect.provide(handlers(note)),
            Effect.provideService(LanguageModel.LanguageModel, model)
          )
          yield* note("the reader is gone")
          return events
        })
        const { plain, traced, untraced } = yield* runs(left)
        assert.deepStrictEqual(plain, [
          ...plain.slice(0, plain.indexOf("out: text-end") + 1),
          ...stopped,
          "the reader is gone"
        ])
        assert.deepStrictEqual(traced, plain)
        assert.deepStrictEqual(untraced, plain)
      })
    )
  }
})

describe("an instrumented model", () => {
  it.effect("leaves an answer that a model below it keeps as it is", () =>
    Effect.gen(function* () {
      const { model } = yield* ScriptedModel.make([[greet]])
      const kept = yield* Effect.cached(untyped(model).generateText({ prompt: "go", toolkit: kit }))
      const keeping = instrumented(changing(() => ({ generateText: () => kept }))(model))
      const ask = untyped(keeping).generateText({ prompt: "go", toolkit: kit })
      const stamps = ({ content }: Generated) =>
        content.filter(isStampable).map(({ metadata }) => metadata[ToolCallContext.KEY])
      const [traced, again, untraced] = yield* Effect.all([
        Effect.map(Effect.provide(ask, RecordedSpans.layer), stamps),
        Effect.map(Effect.provide(ask, RecordedSpans.layer), stamps),
        Effect.map(ask, stamps)
      ]).pipe(
        Effect.provide(handlers(() => Effect.void)),
        Effect.provideService(LanguageModel.LanguageModel, model)
      )
      assert.lengthOf(traced, 1)
      assert.notDeepEqual(again, traced)
      assert.deepStrictEqual(untraced, [undefined])
    })
  )

  it.effect("comes in a layer with whatever the layer of the bare one provides", () =>
    Effect.gen(function* () {
      const { model } = yield* ScriptedModel.make([[done]])
      const layer = LanguageModelInstrumentation.layer(
        Model.make("openai", "gpt-5", Layer.succeed(LanguageModel.LanguageModel, model))
      )
      const names = Effect.all([
        Model.ProviderName,
        Model.ModelName,
        LanguageModel.generateText({ prompt: "go" })
      ])
      const [provider, name, response] = yield* Effect.provide(names, layer)
      assert.deepStrictEqual([provider, name, response.text], ["openai", "gpt-5", done.text])
    })
  )
})
