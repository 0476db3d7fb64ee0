/**
 * The directions of imports between the rooms of `src/`, as ARCHITECTURE.md draws them; what each room may import
 * from npm and from Node; and that no files import each other in a circle. Imports of types count: they end up in the
 * published declarations.
 */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { parseSync, Visitor } from "oxc-parser"

interface Room {
  /** Rooms that it may import. */
  readonly rooms: ReadonlyArray<string>
  /** What else it may import: a package, with its subpaths, or all that starts with a prefix that ends in `:` or `/`. */
  readonly packages: ReadonlyArray<string>
}

const observing = ["propagation", "content", "semconv", "options"]
const effectOnly = ["effect"]

const rooms: Readonly<Record<string, Room>> = {
  semconv: { rooms: [], packages: effectOnly },
  options: { rooms: [], packages: effectOnly },
  propagation: { rooms: ["semconv", "options"], packages: effectOnly },
  content: { rooms: ["semconv", "options"], packages: effectOnly },
  signals: { rooms: observing, packages: effectOnly },
  instrumentation: { rooms: ["signals", ...observing], packages: effectOnly },
  runtime: { rooms: ["signals", ...observing], packages: effectOnly },
  sqlite: { rooms: ["options"], packages: ["effect", "node:"] },
  terminal: { rooms: ["content", "semconv", "options"], packages: effectOnly },
  testing: { rooms: ["content", "semconv"], packages: effectOnly },
  anthropic: { rooms: ["content", "semconv"], packages: ["effect", "@anthropic-ai/sdk", "node:"] },
  sdk: {
    rooms: ["content", "semconv", "options"],
    packages: ["effect", "@effect/opentelemetry", "@opentelemetry/", "node:"]
  },
  cli: {
    rooms: [
      ...observing,
      "signals",
      "instrumentation",
      "runtime",
      "sqlite",
      "terminal",
      "testing",
      "anthropic",
      "sdk"
    ],
    packages: ["effect", "@effect/", "@opentelemetry/", "node:"]
  },
  /** `src/index.ts`, the entry `.`. */
  "index.ts": { rooms: ["instrumentation", "signals", ...observing], packages: effectOnly }
}

/** Source text by path below `src/`. */
type Sources = Readonly<Record<string, string>>

const importsOf = (file: string, source: string): ReadonlyArray<string> => {
  const { errors, program } = parseSync(file, source)
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`)
  const found: Array<string> = []
  const add = (node: { readonly type: string; readonly value?: unknown } | null): void => {
    if (node !== null) found.push(typeof node.value === "string" ? node.value : `(computed: ${node.type})`)
  }
  new Visitor({
    ImportDeclaration: ({ source }) => add(source),
    ExportNamedDeclaration: ({ source }) => add(source),
    ExportAllDeclaration: ({ source }) => add(source),
    ImportExpression: ({ source }) => add(source),
    TSImportType: ({ source }) => add(source),
    TSExternalModuleReference: ({ expression }) => add(expression)
  }).visit(program)
  return found
}

const allowed = (specifier: string, packages: ReadonlyArray<string>): boolean =>
  packages.some((name) =>
    /[:/]$/.test(name) ? specifier.startsWith(name) : specifier === name || specifier.startsWith(`${name}/`)
  )

/** Everything that is wrong with the imports of these files. */
const violations = (sources: Sources): ReadonlyArray<string> => {
  const graph = new Map<string, ReadonlyArray<string>>()
  const wrong = Object.entries(sources).flatMap(([file, source]) => {
    const [roomName = ""] = file.split("/")
    const room = rooms[roomName]
    if (room === undefined) return [`${file}: ${roomName} is no room of ARCHITECTURE.md`]
    const imported = importsOf(file, source)
    const relative = imported.filter((specifier) => specifier.startsWith("."))
    const targets = relative.map((specifier) => path.posix.join(path.posix.dirname(file), specifier))
    graph.set(file, targets)
    return [
      ...imported
        .filter((specifier) => !specifier.startsWith(".") && !allowed(specifier, room.packages))
        .map((specifier) => `${file}: ${roomName} may not import ${specifier}`),
      ...targets.flatMap((target) => {
        const [other = ""] = target.split("/")
        if (!Object.hasOwn(sources, target)) return [`${file}: there is no ${target}`]
        return other === roomName || room.rooms.includes(other)
          ? []
          : [`${file}: ${roomName} may not import ${other} (${target})`]
      })
    ]
  })
  return [...wrong, ...circles(graph)]
}

/** Each circle once, from where a walk through the files in order meets it. */
const circles = (graph: ReadonlyMap<string, ReadonlyArray<string>>): ReadonlyArray<string> => {
  const done = new Set<string>()
  const walk = (file: string, trail: ReadonlyArray<string>): ReadonlyArray<string> => {
    if (trail.includes(file)) return [`circle: ${[...trail.slice(trail.indexOf(file)), file].join(" -> ")}`]
    if (done.has(file)) return []
    const found = (graph.get(file) ?? []).flatMap((target) => walk(target, [...trail, file]))
    done.add(file)
    return found
  }
  return Array.from(graph.keys()).flatMap((file) => walk(file, []))
}

const readSources = (): Sources => {
  const root = path.join(import.meta.dirname, "../../src")
  const files = fs
    .readdirSync(root, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
  return Object.fromEntries(
    files
      .sort()
      .map((file) => [file.split(path.sep).join("/"), fs.readFileSync(path.join(root, file), "utf8")])
  )
}

describe("the rooms of src", () => {
  it("import each other, npm and Node only as ARCHITECTURE.md allows, and never in a circle", () => {
    const sources = readSources()
    assert.containsAllKeys(sources, [
      "index.ts",
      "testing/index.ts",
      "instrumentation/ToolkitInstrumentation.ts"
    ])
    assert.deepStrictEqual(violations(sources), [])
  })
})

describe("the check itself", () => {
  const clean: Sources = {
    "semconv/Names.ts": `import * as Context from "effect/Context"`,
    "content/Policy.ts": `import { a } from "../semconv/Names.ts"\nexport * from "./Cap.ts"`,
    "content/Cap.ts": `import type { Effect } from "effect"`,
    "sdk/Sdk.ts": `import { NodeSDK } from "@opentelemetry/sdk-node"\nimport * as os from "node:os"`,
    "index.ts": `export * as Policy from "./content/Policy.ts"`
  }

  const planted: Readonly<Record<string, [files: Sources, violations: ReadonlyArray<string>]>> = {
    "an arrow against the direction": [
      { "semconv/Names.ts": `import { a } from "../content/Cap.ts"` },
      ["semconv/Names.ts: semconv may not import content (content/Cap.ts)"]
    ],
    "an arrow between rooms that must not know each other": [
      { "runtime/Loop.ts": `import "../instrumentation/Wrap.ts"`, "instrumentation/Wrap.ts": "" },
      ["runtime/Loop.ts: runtime may not import instrumentation (instrumentation/Wrap.ts)"]
    ],
    "an import of types against the direction": [
      { "semconv/Names.ts": `import type { A } from "../content/Cap.ts"` },
      ["semconv/Names.ts: semconv may not import content (content/Cap.ts)"]
    ],
    "a re-export against the direction": [
      { "semconv/Names.ts": `export * from "../content/Cap.ts"\nexport { a } from "../content/Cap.ts"` },
      [
        "semconv/Names.ts: semconv may not import content (content/Cap.ts)",
        "semconv/Names.ts: semconv may not import content (content/Cap.ts)"
      ]
    ],
    "a type expression against the direction": [
      { "semconv/Names.ts": `export type A = import("../content/Cap.ts").A` },
      ["semconv/Names.ts: semconv may not import content (content/Cap.ts)"]
    ],
    "a dynamic import against the direction": [
      { "semconv/Names.ts": `export const a = () => import("../content/Cap.ts")` },
      ["semconv/Names.ts: semconv may not import content (content/Cap.ts)"]
    ],
    "a computed import": [
      { "sdk/Load.ts": `export const load = (name: string) => import(name)` },
      ["sdk/Load.ts: sdk may not import (computed: Identifier)"]
    ],
    "a package that the room does not stand on": [
      { "instrumentation/Wrap.ts": `import { trace } from "@opentelemetry/api"` },
      ["instrumentation/Wrap.ts: instrumentation may not import @opentelemetry/api"]
    ],
    "a package whose name only begins like an allowed one": [
      { "testing/Model.ts": `import "effect-extra"` },
      ["testing/Model.ts: testing may not import effect-extra"]
    ],
    "a module of Node where there need not be one": [
      { "terminal/Print.ts": `import * as tty from "node:tty"` },
      ["terminal/Print.ts: terminal may not import node:tty"]
    ],
    "a file outside all rooms": [
      { "utils/Misc.ts": "" },
      ["utils/Misc.ts: utils is no room of ARCHITECTURE.md"]
    ],
    "a file that is not there": [
      { "content/Cap.ts": `import "./Gone.ts"` },
      ["content/Cap.ts: there is no content/Gone.ts"]
    ],
    "a circle of two files": [
      { "content/Cap.ts": `import "./Policy.ts"` },
      ["circle: content/Policy.ts -> content/Cap.ts -> content/Policy.ts"]
    ],
    "a circle of types": [
      { "content/Cap.ts": `import type { P } from "./Policy.ts"` },
      ["circle: content/Policy.ts -> content/Cap.ts -> content/Policy.ts"]
    ],
    "a file that imports itself": [
      { "content/Cap.ts": `import "./Cap.ts"` },
      ["circle: content/Cap.ts -> content/Cap.ts"]
    ]
  }

  it("finds nothing wrong with clean rooms", () => {
    assert.deepStrictEqual(violations(clean), [])
  })

  for (const [what, [files, expected]] of Object.entries(planted)) {
    it(`reports ${what}`, () => {
      assert.deepStrictEqual(violations({ ...clean, ...files }), expected)
    })
  }
})
