/**
 * `npm run bench`: what toolspan costs, as ratios inside one run.
 */
import * as ToolCall from "./ToolCall.ts"

const rounds = Number(process.argv[2] ?? 7)

await ToolCall.run(rounds)
