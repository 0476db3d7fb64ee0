import type * as Toolkit from "effect/ai/Toolkit"
import type * as Effect from "effect/Effect"
import { describe, expectTypeOf, it } from "vitest"
import * as ToolkitInstrumentation from "../../src/instrumentation/ToolkitInstrumentation.ts"
import { toolkit } from "../support/Toolkits.ts"

describe("types", () => {
  it("a toolkit has the type that it had, and so has what it evaluates to", () => {
    const instrumented = ToolkitInstrumentation.instrument(toolkit, { agentName: "clerk" })
    expectTypeOf(instrumented).toEqualTypeOf(toolkit)
    expectTypeOf<Effect.Success<typeof instrumented>>().toEqualTypeOf<
      Toolkit.WithHandler<typeof toolkit.tools>
    >()
  })

  it("a WithHandler has the type that it had", () => {
    const wrap = (withHandler: Toolkit.WithHandler<typeof toolkit.tools>) =>
      ToolkitInstrumentation.instrument(withHandler)
    expectTypeOf(wrap).returns.toEqualTypeOf<Toolkit.WithHandler<typeof toolkit.tools>>()
  })

  it("what is no toolkit is refused", () => {
    // @ts-expect-error a record of tools has no handlers
    const wrong = () => ToolkitInstrumentation.instrument(toolkit.tools)
    expectTypeOf(wrong).toBeFunction()
  })
})
