import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Exit from "effect/Exit"
import * as Option from "effect/Option"
import type * as Tracer from "effect/Tracer"
import * as SpanListener from "../../src/terminal/SpanListener.ts"
import * as Spans from "./Spans.ts"

/** A span as strict as any tracer's: its state is in private fields, which no wrapper or copy has. */
class PrivateSpan implements Tracer.Span {
  readonly _tag = "Span"
  readonly name = "private"
  readonly traceId = "t"
  readonly spanId = "s"
  readonly parent = Option.none<Tracer.AnySpan>()
  readonly annotations = Context.empty()
  readonly links: Array<Tracer.SpanLink> = []
  readonly sampled = true
  readonly kind = "internal"
  readonly #calls: Array<ReadonlyArray<unknown>> = []
  #status: Tracer.SpanStatus = { _tag: "Started", startTime: 0n }
  readonly attributes = new Map<string, unknown>()

  get status() {
    return this.#status
  }
  get calls() {
    return this.#calls
  }
  end(endTime: bigint, exit: Exit.Exit<unknown, unknown>) {
    this.#calls.push(["end", endTime, exit])
    this.#status = { _tag: "Ended", startTime: 0n, endTime, exit }
  }
  event(...args: Parameters<Tracer.Span["event"]>) {
    this.#calls.push(["event", ...args])
  }
  attribute(key: string, value: unknown) {
    this.attributes.set(key, value)
  }
  addLinks(links: ReadonlyArray<Tracer.SpanLink>) {
    this.links.push(...links)
  }
}

const quiet: SpanListener.SpanListener = { onEvent: () => {}, onEnd: () => {} }

describe("SpanListener.listen", () => {
  it("passes every call on to the span, with what it was given", () => {
    const span = new PrivateSpan()
    assert.isTrue(SpanListener.listen(span, quiet))
    const attributes = { key: "value" }
    span.event("happened", 5n, attributes)
    span.end(7n, Exit.void)
    assert.deepStrictEqual(span.calls, [
      ["event", "happened", 5n, attributes],
      ["end", 7n, Exit.void]
    ])
  })

  it("hears of each event, and of the end once the span has ended", () => {
    const span = new PrivateSpan()
    const heard: Array<string> = []
    SpanListener.listen(span, {
      onEvent: (name, attributes) => heard.push(`${name} ${JSON.stringify(attributes)}`),
      onEnd: (exit) => heard.push(`end ${exit._tag} ${span.status._tag}`)
    })
    span.event("happened", 1n, { key: "value" })
    span.event("again", 1n)
    span.end(2n, Exit.fail("no"))
    assert.deepStrictEqual(heard, ['happened {"key":"value"}', "again undefined", "end Failure Ended"])
  })

  it("hears nothing after the first end", () => {
    const span = Spans.start("work")
    let heard = 0
    SpanListener.listen(span, { onEvent: () => heard++, onEnd: () => heard++ })
    span.end(1n, Exit.void)
    span.end(2n, Exit.void)
    span.event("late", 3n)
    assert.strictEqual(heard, 1)
  })

  it("leaves the span looking as it did", () => {
    const span = Spans.start("work")
    const keys = Object.keys(span)
    SpanListener.listen(span, quiet)
    assert.deepStrictEqual(Object.keys(span), keys)
    assert.strictEqual(Object.getPrototypeOf(span), Object.getPrototypeOf(Spans.start("other")))
  })

  it("lets a proxy around the span be the receiver, as before", () => {
    const span = Spans.start("work")
    SpanListener.listen(span, quiet)
    const proxy = new Proxy(span, {})
    proxy.end(1n, Exit.void)
    assert.strictEqual(span.status._tag, "Ended")
  })

  it("does not listen to a frozen span, and leaves it working", () => {
    const span = Object.freeze(new PrivateSpan())
    assert.isFalse(SpanListener.listen(span, quiet))
    span.end(1n, Exit.void)
    assert.lengthOf(span.calls, 1)
  })

  it("swallows what a listener throws", () => {
    const span = Spans.start("work")
    const fail = () => {
      throw new Error("printer on fire")
    }
    SpanListener.listen(span, { onEvent: fail, onEnd: fail })
    span.event("happened", 1n)
    span.end(2n, Exit.void)
    assert.lengthOf(span.events, 1)
    assert.strictEqual(span.status._tag, "Ended")
  })

  it("lets through what the span itself throws", () => {
    const span = Spans.start("work")
    span.end = () => {
      throw new Error("tracer on fire")
    }
    SpanListener.listen(span, quiet)
    assert.throws(() => span.end(1n, Exit.void), "tracer on fire")
  })
})
