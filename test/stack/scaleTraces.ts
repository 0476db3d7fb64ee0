/**
 * Agents' traces as OTLP JSON, a few hundred at once: most of them harmless, some of each kind that sampling has to keep.
 */
import { createHash } from "node:crypto"

export interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly name: string
  readonly [key: string]: unknown
}

export interface Trace {
  readonly id: string
  /** What is exported together; first what ends first, as programs do it. The last two may be empty. */
  readonly arrivals: ReadonlyArray<ReadonlyArray<Span>>
}

export const ARRIVALS = 5

type Values = Readonly<Record<string, string>>

interface Shape {
  readonly attributes?: Values
  readonly milliseconds?: number
  readonly failed?: boolean
  readonly event?: readonly [name: string, attributes: Values]
}

/** The same ids in every run: what a test says of them is true every time. */
const hex = (text: string, digits: number) => createHash("sha256").update(text).digest("hex").slice(0, digits)

const attributes = (values: Values) =>
  Object.entries(values).map(([key, stringValue]) => ({ key, value: { stringValue } }))

const nanos = (milliseconds: number) => `${BigInt(milliseconds) * 1_000_000n}`

/** A span that started a second ago, below another one or none. */
const span = (traceId: string, parent: Span | undefined, name: string, shape: Shape = {}): Span => {
  const start = Date.now() - 1000
  const end = start + (shape.milliseconds ?? 50)
  return {
    traceId,
    spanId: hex(`${traceId} ${parent?.spanId} ${name}`, 16),
    ...(parent === undefined ? {} : { parentSpanId: parent.spanId }),
    name,
    kind: 1,
    startTimeUnixNano: nanos(start),
    endTimeUnixNano: nanos(end),
    attributes: attributes(shape.attributes ?? {}),
    ...(shape.failed ? { status: { code: 2 } } : {}),
    events:
      shape.event === undefined
        ? []
        : [{ timeUnixNano: nanos(end), name: shape.event[0], attributes: attributes(shape.event[1]) }]
  }
}

const call = (traceId: string, turn: Span, tool: string, shape: Shape = {}): Span =>
  span(traceId, turn, `execute_tool ${tool}`, {
    ...shape,
    attributes: {
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": tool,
      "toolspan.tool.outcome": shape.failed ? "failure" : "success",
      ...shape.attributes
    }
  })

const decision = (traceId: string, turn: Span, name: string, decided: "approved" | "denied"): Span =>
  span(traceId, turn, `tool_approval ${name}`, {
    attributes: { "toolspan.approval.id": "approval_1", "toolspan.approval.decision": decided }
  })

/** The call that was approved. */
const approved = (traceId: string, turn: Span, name: string): Span =>
  call(traceId, turn, name, { attributes: { "toolspan.approval.id": "approval_1" } })

const failed: Shape = { failed: true, attributes: { "error.type": "DeployError" } }

const asked: NonNullable<Shape["event"]> = ["toolspan.approval.requested", { "gen_ai.tool.name": "deploy" }]

const providerRan = (outcome: string): Shape => ({
  event: ["toolspan.tool.provider_executed", { "toolspan.tool.outcome": outcome }]
})

/** What is out of the ordinary in a trace: in its first call, its last call, its last turn or at its root. */
interface Plot {
  readonly first?: Shape
  readonly last?: Shape
  readonly turn?: Shape
  readonly root?: Shape
  readonly decided?: "approved" | "denied"
}

const AGENT = "invoke_agent shop"
const TURN = "chat 1"

const make = (name: string, { decided, first, last, root, turn }: Plot): Trace => {
  const id = hex(name, 32)
  const agent = span(id, undefined, AGENT, root)
  const turn1 = span(id, agent, TURN, decided === undefined ? {} : { event: asked })
  const turn2 = span(id, agent, "chat 2", turn ?? providerRan("success"))
  return {
    id,
    arrivals: [
      [call(id, turn1, "search", first), call(id, turn1, "read")],
      [turn1, call(id, turn2, "write", last)],
      [turn2, agent],
      decided === undefined ? [] : [decision(id, turn1, "deploy", decided)],
      decided === "approved" ? [approved(id, turn1, "deploy")] : []
    ]
  }
}

/** Each is to be kept. That shows in the first spans of a trace, or in the last. */
const plots: Readonly<Record<string, Plot>> = {
  "first call failed": { first: failed },
  "last call failed": { last: failed },
  "last turn failed": { turn: failed },
  "failed without a status": { last: { attributes: { "error.type": "DeployError" } } },
  "provider's tool failed": { turn: providerRan("failure") },
  "call not started": { turn: { event: ["toolspan.tool.not_started", {}] } },
  "first call slow": { first: { milliseconds: 10_500 } },
  "last call slow": { last: { milliseconds: 10_500 } },
  "trace slow": { root: { milliseconds: 121_000 } },
  "approval waits": { turn: { event: asked } },
  approved: { decided: "approved" },
  denied: { decided: "denied" }
}

/** Nothing is wrong with these: also not that somebody cancelled, nor that a provider ran a tool, nor nine seconds. */
const harmless: ReadonlyArray<Plot> = [
  {},
  { last: { attributes: { "toolspan.tool.outcome": "cancelled" } } },
  { last: { milliseconds: 9_500 } },
  { root: { milliseconds: 119_000 } }
]

/** So many of each kind, by kind. */
export const remarkable = (each: number): ReadonlyMap<string, ReadonlyArray<Trace>> =>
  new Map(
    Object.entries(plots).map(([kind, plot]) => [
      kind,
      Array.from({ length: each }, (_, i) => make(`${kind} ${i}`, plot))
    ])
  )

export const ordinary = (count: number): ReadonlyArray<Trace> =>
  Array.from({ length: count }, (_, i) => make(`ordinary ${i}`, harmless[i % harmless.length] ?? {}))

/** Spans of a trace that come when its other spans are long gone. The name tells them from earlier ones of the same trace. */
export interface Later {
  readonly id: string
  readonly decision: Span
  readonly approved: Span
  /** Of the approved call. Nothing about it says that it is to be kept. */
  readonly child: Span
  /** Another call. */
  readonly failed: Span
}

export const later = ({ id }: Pick<Trace, "id">, name: string): Later => {
  const turn = span(id, span(id, undefined, AGENT), TURN)
  const run = approved(id, turn, name)
  return {
    id,
    decision: decision(id, turn, name, "approved"),
    approved: run,
    child: span(id, run, "POST /deploy"),
    failed: call(id, turn, `undo ${name}`, failed)
  }
}

/** As one request of OTLP over HTTP. */
export const request = (spans: ReadonlyArray<Span>): string =>
  JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: attributes({ "service.name": "shop" }) },
        scopeSpans: [{ scope: { name: "toolspan" }, spans }]
      }
    ]
  })
