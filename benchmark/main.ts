/**
 * `npm run bench`: what toolspan costs, as ratios inside one run. `npm run bench -- 1` is a quick look.
 */
import * as History from "./History.ts"
import * as Memory from "./Memory.ts"
import * as Runtime from "./Runtime.ts"
import * as Streaming from "./Streaming.ts"
import * as ToolCall from "./ToolCall.ts"
import * as Turn from "./Turn.ts"

const rounds = Number(process.argv[2] ?? 7)

await ToolCall.run(rounds)
await Turn.run(rounds)
await Runtime.run(rounds)
await Streaming.run(rounds)
await History.run(rounds)
await Memory.run(rounds > 1 ? 1_000_000 : 100_000)
