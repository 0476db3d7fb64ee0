import { assert, describe, it } from "@effect/vitest"
import { logs, resources, tracing } from "@opentelemetry/sdk-node"
import { vi } from "vitest"
import * as Redaction from "../../src/content/Redaction.ts"
import * as Scrubbing from "../../src/sdk/Scrubbing.ts"

const secret = "sk-abcdefghijklmnopqrstuvwxyz012345"
const text = `refused: ${secret}`
const masked = `refused: ${Redaction.MASK}`

/** A span made with the plain API, as exported behind the masking. */
const exportedSpan = (
  use: (span: ReturnType<ReturnType<tracing.BasicTracerProvider["getTracer"]>["startSpan"]>) => void
) => {
  const exporter = new tracing.InMemorySpanExporter()
  const provider = new tracing.BasicTracerProvider({
    spanProcessors: [Scrubbing.spanProcessor, new tracing.SimpleSpanProcessor(exporter)]
  })
  const span = provider.getTracer("plain").startSpan("plain")
  use(span)
  span.end()
  return exporter.getFinishedSpans()[0]
}

const exportedLogRecord = (record: Parameters<ReturnType<logs.LoggerProvider["getLogger"]>["emit"]>[0]) => {
  const exporter = new logs.InMemoryLogRecordExporter()
  const provider = new logs.LoggerProvider({
    resource: resources.emptyResource(),
    processors: [Scrubbing.logRecordProcessor, new logs.SimpleLogRecordProcessor({ exporter })]
  })
  provider.getLogger("plain").emit(record)
  return exporter.getFinishedLogRecords()[0]
}

describe("masking", () => {
  it("covers message, stack and status text of any span, and leaves the rest", () => {
    const span = exportedSpan((span) => {
      span.recordException(Object.assign(new Error(text), { stack: `Error: ${text}\n    at there` }))
      span.addEvent("log", { "effect.cause": text, other: text })
      span.addEvent("empty")
      span.setStatus({ code: 2, message: text })
    })
    assert.deepStrictEqual(span?.status, { code: 2, message: masked })
    assert.deepStrictEqual(
      span?.events.map(({ attributes }) => attributes),
      [
        {
          "exception.type": "Error",
          "exception.message": masked,
          "exception.stacktrace": `Error: ${masked}\n    at there`
        },
        { "effect.cause": masked, other: text },
        {}
      ]
    )
  })

  it("covers the names of events, types of exceptions, and texts in arrays", () => {
    const span = exportedSpan((span) => {
      span.addEvent(text, { "exception.type": text, "exception.message": [text, "plain"] })
    })
    assert.deepStrictEqual(
      span?.events.map(({ attributes, name }) => [name, attributes]),
      [[masked, { "exception.type": masked, "exception.message": [masked, "plain"] }]]
    )
  })

  it("covers the body of a log record, be it one text or several", () => {
    assert.strictEqual(exportedLogRecord({ body: text })?.body, masked)
    assert.deepStrictEqual(exportedLogRecord({ body: [text, 1] })?.body, [masked, 1])
  })

  it("keeps only the beginning of a very long text", () => {
    const span = exportedSpan((span) => span.setStatus({ code: 2, message: "token: x ".repeat(1_000_000) }))
    // A mask is longer than what it stands for.
    assert.isAtMost(span?.status.message?.length ?? 0, 4 * 64 * 1024)
  })

  it("covers the exception of a log record", () => {
    const record = exportedLogRecord({
      body: "failed",
      attributes: { "exception.message": text, "exception.stacktrace": text, other: 1 }
    })
    assert.deepStrictEqual(record?.attributes, {
      "exception.message": masked,
      "exception.stacktrace": masked,
      other: 1
    })
  })

  it("drops the text if it fails", () => {
    const broken = vi.spyOn(String.prototype, "replace").mockImplementation(() => {
      throw new Error("broken")
    })
    const replaceAll = vi.spyOn(String.prototype, "replaceAll").mockImplementation(() => {
      throw new Error("broken")
    })
    try {
      const span = exportedSpan((span) => {
        span.recordException(text)
        span.setStatus({ code: 2, message: text })
      })
      const record = exportedLogRecord({ attributes: { "exception.message": text } })
      assert.strictEqual(span?.status.message, Redaction.MASK)
      assert.deepStrictEqual(span?.events[0]?.attributes, { "exception.message": Redaction.MASK })
      assert.deepStrictEqual(record?.attributes, { "exception.message": Redaction.MASK })
    } finally {
      broken.mockRestore()
      replaceAll.mockRestore()
    }
  })
})
