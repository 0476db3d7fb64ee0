/**
 * TypeScript of others, run as it stands: types stripped, imports served from a table, and every `// =>` comment
 * reported with the value of the expression before it.
 */
import { stripTypeScriptTypes } from "node:module"
import * as vm from "node:vm"
import { parseSync, Visitor } from "oxc-parser"

/** Modules by specifier: all that a program may import. */
export type Modules = Readonly<Record<string, object>>

/** What a program says of one of its expressions: the value it had, and the one that the comment says it has. */
export interface Observation {
  readonly actual: unknown
  readonly expected: unknown
}

export interface Program {
  /** How many expressions have a `// =>` comment. */
  readonly expectations: number
  /** Runs the program from its start; gives what it exports. Rejects with what it throws. */
  readonly run: (
    modules: Modules,
    observe: (observation: Observation) => void
  ) => Promise<Readonly<Record<string, unknown>>>
}

/**
 * Compiles a module. Stack traces show it as `name`, its first line as `line`. Throws where it meets syntax that it
 * cannot serve.
 */
export const compile = (source: string, name: string, line: number): Program => {
  const code = stripTypeScriptTypes(source)
  const { comments, errors, program } = parseSync("program.js", code)
  if (errors[0] !== undefined) throw new Error(`${name}: ${errors[0].message}`)

  const edits: Array<{ readonly start: number; readonly end: number; readonly text: string }> = []
  const replace = (start: number, end: number, text: string): void => {
    edits.push({ start, end, text })
  }
  const refuse = (node: { readonly type: string; readonly start: number; readonly end: number }): never => {
    throw new Error(`${name}: cannot serve ${node.type}: ${code.slice(node.start, node.end)}`)
  }

  const exported: Array<string> = []
  const observable = new Map<number, (expected: string) => void>()
  new Visitor({
    ImportDeclaration(node) {
      const names = node.specifiers.map((specifier) => {
        if (specifier.type !== "ImportSpecifier") return refuse(specifier)
        return code.slice(specifier.start, specifier.end).replace(" as ", ": ")
      })
      replace(node.start, node.end, `const { ${names.join(", ")} } = load(${node.source.raw})`)
    },
    ExportNamedDeclaration(node) {
      const { declaration } = node
      if (declaration?.type === "ClassDeclaration" && declaration.id !== null) {
        exported.push(declaration.id.name)
        return replace(node.start, declaration.start, "")
      }
      if (declaration?.type !== "VariableDeclaration") return refuse(node)
      exported.push(
        ...declaration.declarations.map(({ id }) => (id.type === "Identifier" ? id.name : refuse(id)))
      )
      replace(node.start, declaration.start, "")
    },
    ExportDefaultDeclaration: refuse,
    ExportAllDeclaration: refuse,
    ExpressionStatement({ end, expression }) {
      observable.set(end, (expected) => {
        replace(expression.start, expression.start, "observe({ actual: (")
        replace(expression.end, expression.end, `), expected: (${expected}) })`)
      })
    },
    VariableDeclaration(node) {
      const [declared] = node.declarations
      if (node.declarations.length !== 1 || declared?.id.type !== "Identifier") return
      const { name } = declared.id
      observable.set(node.end, (expected) => {
        replace(node.end, node.end, `; observe({ actual: ${name}, expected: (${expected}) })`)
      })
    }
  }).visit(program)

  const expectations = comments.filter((comment) => comment.value.startsWith(" =>"))
  for (const { start, value } of expectations) {
    const observe = observable.get(code.slice(0, start).trimEnd().length)
    if (observe === undefined) throw new Error(`${name}: nothing to observe before //${value}`)
    observe(value.slice(" =>".length))
  }

  const body = edits
    .toSorted((a, b) => b.start - a.start)
    .reduce((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), code)
  const script = new vm.Script(
    `(async (load, observe) => { "use strict"; ${body}\nreturn { ${exported.join(", ")} } })`,
    { filename: name, lineOffset: line - 1 }
  )
  return {
    expectations: expectations.length,
    run: (modules, observe) => {
      const load = (specifier: string): object => {
        const found = modules[specifier]
        if (found === undefined) throw new Error(`${name}: there is no module "${specifier}"`)
        return found
      }
      return script.runInThisContext()(load, observe)
    }
  }
}
