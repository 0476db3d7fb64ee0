import * as OtelTracer from "@effect/opentelemetry/OtelTracer"
import { Resource } from "@effect/opentelemetry/Resource"
import { assert, describe, it } from "@effect/vitest"
import * as Otel from "@opentelemetry/api"
import { logs } from "@opentelemetry/api-logs"
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as ManagedRuntime from "effect/ManagedRuntime"
import * as Metric from "effect/Metric"
import * as Tracer from "effect/Tracer"
import { Sdk } from "../../src/sdk/index.ts"
import * as Instruments from "../../src/semconv/Instruments.ts"
import * as OtlpServer from "../support/OtlpServer.ts"
import * as Environment from "./Environment.ts"
import * as Tracing from "./Tracing.ts"

/** A server, and the environment that names it. */
const endpoint = (variables: Readonly<Record<string, string>> = {}) =>
  Effect.tap(OtlpServer.make, (server) =>
    Environment.set({ OTEL_EXPORTER_OTLP_ENDPOINT: server.url, ...variables })
  )

/** No loggers but what the layer brings, and a metric registry of its own. */
const alone = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  effect.pipe(Effect.provide(Logger.layer([])), Effect.provideService(Metric.MetricRegistry, new Map()))

/** Runs in a fresh layer, to its end. */
const telemetered = <A, E>(
  effect: Effect.Effect<A, E, OtelTracer.OtelTracer | Resource>,
  options?: Sdk.Options
) => alone(Effect.provide(effect, Sdk.layer(options)))

const names = (server: OtlpServer.OtlpServer) => server.spans().map(({ name }) => name)

/** Value of the counter of dropped telemetry, as last exported. */
const dropped = (server: OtlpServer.OtlpServer, reason: string) =>
  server
    .metrics()
    .findLast(({ name }) => name === "toolspan.telemetry.dropped")
    ?.points.find(({ attributes }) => attributes["toolspan.dropped.reason"] === reason)?.value

describe("Sdk.layer", () => {
  it.live("delivers spans, metrics of Effect and of the API, and logs next to the other loggers", () =>
    Effect.gen(function* () {
      const server = yield* endpoint()
      const printed: Array<unknown> = []
      const printer = Logger.layer([Logger.make(({ message }) => printed.push(message))])
      yield* Effect.gen(function* () {
        yield* Metric.update(Metric.counter("from.effect"), 1)
        Otel.metrics.getMeter("plain").createCounter("from.api").add(2)
        yield* Effect.logWarning("careful")
      }).pipe(
        Effect.withSpan("work"),
        Effect.provide(Sdk.layer()),
        Effect.provide(printer),
        Effect.provideService(Metric.MetricRegistry, new Map())
      )

      assert.deepStrictEqual(names(server), ["work"])
      assert.deepStrictEqual(
        server.metrics().map(({ name, points }) => [name, points[0]?.value]),
        [
          ["from.api", 2],
          ["from.effect", 1]
        ]
      )
      const [record] = server.logRecords()
      assert.deepStrictEqual([record?.severity, record?.body], ["Warn", "careful"])
      assert.strictEqual(record?.spanId, server.spans()[0]?.spanId)
      assert.deepStrictEqual(printed, [["careful"]])
    })
  )

  it.live("gives the OpenTelemetry span, and has it active for the API", () =>
    Effect.gen(function* () {
      const server = yield* endpoint()
      yield* Effect.gen(function* () {
        const tracer = yield* OtelTracer.OtelTracer
        const span = yield* OtelTracer.currentOtelSpan
        assert.strictEqual(Otel.trace.getActiveSpan(), span)
        yield* Effect.promise(async () => {
          await Promise.resolve()
          tracer.startSpan("plain").end()
        })
      }).pipe(Effect.withSpan("work"), telemetered)
      const [plain, work] = server.spans()
      assert.strictEqual(plain?.parentSpanId, work?.spanId)
    })
  )

  it.live("masks secrets in the failures of any span", () =>
    Effect.gen(function* () {
      const server = yield* endpoint()
      const error = new Error("refused: Bearer abcdefghijklmnopqrstuvwxyz0123")
      yield* Effect.sync(() => {
        const span = Otel.trace.getTracer("plain").startSpan("plain")
        span.recordException(error)
        span.setStatus({ code: Otel.SpanStatusCode.ERROR, message: error.message })
        span.end()
      }).pipe(
        Effect.andThen(Effect.logError("failed", error)),
        Effect.andThen(Effect.ignore(Effect.withSpan(Effect.fail(error), "effect"))),
        telemetered
      )
      assert.deepStrictEqual(names(server), ["plain", "effect"])
      for (const { events, status } of server.spans()) {
        assert.strictEqual(status.message, "refused: Bearer [REDACTED]")
        assert.strictEqual(events[0]?.attributes["exception.message"], "refused: Bearer [REDACTED]")
        assert.notInclude(String(events[0]?.attributes["exception.stacktrace"]), "abcdefghij")
      }
    })
  )

  it.live("says in code what goes before the environment, and only that", () =>
    Effect.gen(function* () {
      yield* endpoint({
        OTEL_SERVICE_NAME: "env",
        OTEL_RESOURCE_ATTRIBUTES: "service.version=env,service.instance.id=env,a=env,b=env"
      })
      const attributes = Effect.map(Resource, (resource) => resource.attributes)
      const bare = yield* telemetered(attributes)
      assert.deepInclude(bare, {
        "service.name": "env",
        "service.version": "env",
        "service.instance.id": "env"
      })
      const set = yield* telemetered(attributes, {
        serviceName: "code",
        serviceVersion: "1.0",
        resourceAttributes: { a: "code", "service.name": "attribute" }
      })
      assert.deepInclude(set, {
        "service.name": "code",
        "service.version": "1.0",
        "service.instance.id": "env",
        a: "code",
        b: "env"
      })
    })
  )

  it.live("finds out about the process what OTEL_NODE_RESOURCE_DETECTORS lists", () =>
    Effect.gen(function* () {
      yield* endpoint({ OTEL_NODE_RESOURCE_DETECTORS: "os,unheard-of" })
      const { attributes } = yield* telemetered(Resource)
      assert.property(attributes, "os.type")
      assert.notProperty(attributes, "process.pid")
    })
  )

  it.live("keeps secrets of the command line out of the resource", () =>
    Effect.gen(function* () {
      yield* endpoint()
      yield* Effect.acquireRelease(
        Effect.sync(() => process.argv.push("--api-key", "abcdefgh12345678")),
        () => Effect.sync(() => process.argv.splice(-2))
      )
      const { attributes } = yield* telemetered(Resource)
      assert.deepStrictEqual(Array.from(attributes["process.command_args"] as Array<string>).slice(-2), [
        "--api-key",
        "[REDACTED]"
      ])
    })
  )

  it.live("can be built, closed and built again, and leaves nothing registered", () =>
    Effect.gen(function* () {
      const server = yield* endpoint()
      for (const name of ["first", "second"]) {
        yield* telemetered(Effect.withSpan(Effect.void, name))
        const provider = Otel.trace.getTracerProvider()
        assert.instanceOf(provider, Otel.ProxyTracerProvider)
        assert.isUndefined((provider as Otel.ProxyTracerProvider).getDelegateTracer("any"))
        assert.deepStrictEqual(Otel.propagation.fields(), [])
        const probe = Otel.ROOT_CONTEXT.setValue(Symbol("probe"), 1)
        Otel.context.with(probe, () => assert.strictEqual(Otel.context.active(), Otel.ROOT_CONTEXT))
        const counter = Otel.metrics.getMeter("any").createCounter("any")
        assert.strictEqual(counter, Otel.createNoopMeter().createCounter("any"))
        assert.isFalse(logs.getLogger("any").enabled())
      }
      assert.deepStrictEqual(names(server), ["first", "second"])
    })
  )

  it.live("serves two runtimes, one after the other", () =>
    Effect.gen(function* () {
      const server = yield* endpoint()
      for (const name of ["first", "second"]) {
        yield* Effect.promise(async () => {
          const runtime = ManagedRuntime.make(Sdk.layer())
          await runtime.runPromise(Effect.withSpan(Effect.yieldNow, name))
          await runtime.dispose()
        })
      }
      assert.deepStrictEqual(names(server), ["first", "second"])
    })
  )

  it.live("calls the span processors that it is given, and lets none of them do harm", () =>
    Effect.gen(function* () {
      const server = yield* endpoint()
      const ended: Array<string> = []
      const broken = () => {
        throw new Error("broken")
      }
      const late = Metric.counter("late")
      yield* Effect.gen(function* () {
        yield* Effect.withSpan(Effect.void, "work")
        Otel.trace.getTracer("plain").startSpan("plain").end()
        yield* Metric.update(late, 1)
      }).pipe((effect) =>
        telemetered(effect, {
          spanProcessors: [
            { onStart: broken, onEnding: broken, onEnd: broken, forceFlush: broken, shutdown: broken },
            {
              onStart: (span) => span.setAttribute("seen", true),
              onEnd: (span) => ended.push(span.name),
              forceFlush: () => Promise.resolve(),
              shutdown: () => Promise.reject(new Error("broken"))
            }
          ]
        })
      )
      assert.deepStrictEqual(ended, ["work", "plain"])
      assert.deepStrictEqual(names(server), ["work", "plain"])
      assert.deepStrictEqual(server.spans()[0]?.attributes, { seen: true })
      assert.deepStrictEqual(
        server.metrics().map(({ name }) => name),
        ["late"]
      )
    })
  )

  it.live("does nothing but run the program where OTEL_SDK_DISABLED says so", () =>
    Effect.gen(function* () {
      const server = yield* endpoint({ OTEL_SDK_DISABLED: "true" })
      const span = yield* telemetered(
        Effect.withSpan(
          Effect.gen(function* () {
            yield* Effect.log("not exported")
            assert.isFalse((yield* OtelTracer.OtelTracer).startSpan("plain").isRecording())
            assert.deepStrictEqual((yield* Resource).attributes, {})
            return yield* Effect.currentSpan
          }),
          "work"
        )
      )
      assert.instanceOf(span, Tracer.NativeSpan)
      assert.deepStrictEqual(server.requests(), [])
    })
  )

  it.live("steps back where another SDK is registered", () =>
    Effect.gen(function* () {
      const server = yield* endpoint()
      const tracing = yield* Tracing.make()
      yield* telemetered(Effect.withSpan(Effect.log("not exported"), "work"))
      assert.strictEqual(tracing.named("work").name, "work")
      assert.isTrue(Otel.trace.getTracer("any").startSpan("still registered").isRecording())
      assert.deepStrictEqual(server.requests(), [])
    })
  )

  it.live("works with a context manager of the program, and leaves it in place", () =>
    Effect.gen(function* () {
      const server = yield* endpoint()
      const manager = new AsyncLocalStorageContextManager()
      yield* Effect.acquireRelease(
        Effect.sync(() => Otel.context.setGlobalContextManager(manager)),
        () => Effect.sync(() => Otel.context.disable())
      )
      yield* Effect.sync(() => Otel.trace.getTracer("plain").startSpan("plain").end()).pipe(
        Effect.withSpan("work"),
        telemetered
      )
      const [plain, work] = server.spans()
      assert.strictEqual(plain?.parentSpanId, work?.spanId)
      const probe = Otel.ROOT_CONTEXT.setValue(Symbol("probe"), 1)
      Otel.context.with(probe, () => assert.strictEqual(manager.active(), probe))
    })
  )

  it.live("leaves Effect its own tracer where no spans are exported", () =>
    Effect.gen(function* () {
      yield* endpoint({ OTEL_TRACES_EXPORTER: "none" })
      const span = yield* telemetered(Effect.withSpan(Effect.currentSpan, "work"))
      assert.instanceOf(span, Tracer.NativeSpan)
    })
  )
})

describe("a fault of the endpoint", () => {
  it.live("that finds a batch too large costs the items that are too large", () =>
    Effect.gen(function* () {
      const server = yield* endpoint()
      server.answerWith((_, body) => (JSON.stringify(body).includes("huge") ? 413 : 200))
      yield* Effect.forEach(["a", "b", "huge", "c"], (name) => Effect.withSpan(Effect.log(name), name)).pipe(
        telemetered
      )
      assert.deepStrictEqual(names(server), ["a", "b", "c"])
      assert.deepStrictEqual(
        server.logRecords().map(({ body }) => body),
        ["a", "b", "c"]
      )
      assert.strictEqual(dropped(server, "export_failed"), 2)
    })
  )

  for (const status of [429, 503]) {
    it.live(`that answers ${status} for a while costs nothing`, () =>
      Effect.gen(function* () {
        const server = yield* endpoint({ OTEL_METRICS_EXPORTER: "otlp" })
        let refusals = 2
        server.answerWith((path) =>
          path === "/v1/traces" && refusals-- > 0
            ? { status, headers: { "retry-after": new Date(0).toUTCString() } }
            : 200
        )
        yield* telemetered(Effect.withSpan(Effect.void, "work"))
        assert.deepStrictEqual(names(server), ["work"])
        assert.lengthOf(
          server.requests().filter(({ path }) => path === "/v1/traces"),
          3
        )
        assert.isUndefined(dropped(server, "export_failed"))
      })
    )

    it.live(`that answers ${status} to the end is counted once for each item`, () =>
      Effect.gen(function* () {
        const server = yield* endpoint()
        server.answerWith((path) =>
          path === "/v1/traces" ? { status, headers: { "retry-after": "3600" } } : 200
        )
        yield* telemetered(Effect.withSpan(Effect.withSpan(Effect.void, "inner"), "outer"))
        assert.strictEqual(dropped(server, "export_failed"), 2)
      })
    )
  }

  it.live(
    "that never answers ends the layer at the bound, and is counted, and the other signals arrive",
    () =>
      Effect.gen(function* () {
        const server = yield* endpoint()
        server.answerWith((path) => (path === "/v1/traces" ? "hang" : 200))
        yield* Effect.gen(function* () {
          yield* Effect.withSpan(Effect.log("hello"), "work").pipe(
            Effect.provide(Sdk.layer({ shutdownTimeout: "300 millis" })),
            Effect.timeout("5 seconds")
          )
          assert.lengthOf(server.logRecords(), 1)
          yield* Effect.promise(() => new Promise(setImmediate))
          const { count } = yield* Metric.value(Instruments.telemetryDropped("export_failed"))
          assert.strictEqual(count, 1)
        }).pipe(alone)
      })
  )

  it.live("never makes the program wait: spans need no turn of the event loop", () =>
    Effect.gen(function* () {
      const server = yield* endpoint({
        OTEL_BSP_MAX_QUEUE_SIZE: "2",
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "1",
        OTEL_METRICS_EXPORTER: "otlp"
      })
      server.answerWith((path) => (path === "/v1/traces" ? "hang" : 200))
      const runtime = ManagedRuntime.make(
        Layer.mergeAll(
          Sdk.layer({ shutdownTimeout: "200 millis" }),
          Layer.succeed(Metric.MetricRegistry, new Map())
        )
      )
      yield* Effect.promise(() => runtime.context())
      for (let n = 0; n < 50; n++) runtime.runSync(Effect.withSpan(Effect.void, "work"))
      yield* Effect.promise(() => runtime.dispose())
    })
  )

  it.live("that lets the queue run over is counted", () =>
    Effect.gen(function* () {
      const server = yield* endpoint({
        OTEL_BSP_MAX_QUEUE_SIZE: "3",
        OTEL_BSP_MAX_EXPORT_BATCH_SIZE: "3",
        OTEL_BLRP_MAX_QUEUE_SIZE: "3"
      })
      yield* Effect.sync(() => {
        const tracer = Otel.trace.getTracer("plain")
        for (let n = 0; n < 10; n++) tracer.startSpan("work").end()
      }).pipe(telemetered)
      const lost = dropped(server, "queue_full") ?? 0
      assert.strictEqual(names(server).length + lost, 10)
      assert.isAbove(lost, 0)
    })
  )
})

describe("Sdk.layerTracer", () => {
  it.live("makes spans on the set-up of the program", () =>
    Effect.gen(function* () {
      const tracing = yield* Tracing.make()
      yield* Effect.withSpan(Effect.void, "work").pipe(Effect.provide(Sdk.layerTracer))
      assert.strictEqual(tracing.named("work").instrumentationScope.name, "effect")
      assert.deepStrictEqual(tracing.named("work").status, { code: Otel.SpanStatusCode.UNSET })
    })
  )
})
