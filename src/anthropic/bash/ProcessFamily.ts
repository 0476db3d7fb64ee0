/**
 * All processes that a session has started, found and ended: also those that left its process group or session (`setsid`, `nohup`,
 * daemons that fork twice).
 *
 * On Linux, from `/proc`. A process belongs to the family if it is the session's leader, or has the leader's session id, or carries the
 * family's marker in the environment it was started with, or descends from one that does. What escapes: a process that cleared its
 * environment, left the session *and* lost its parent before anybody looked; what a service outside started on request (cron, systemd,
 * docker); another user's processes (sudo). A sandbox with its own process ids ends the first kind too: see `BashSession.Options.sandbox`.
 *
 * Elsewhere the process group of the leader is all that is known.
 */
import * as fs from "node:fs"
import * as Effect from "effect/Effect"

export interface Family {
  /** The process that was started, leader of its session. */
  readonly leader: number
  /** `NAME=value` as it stands in the environment of the family; the value is random. */
  readonly marker: string
  /** When the leader was started, in ticks since boot: what is older does not belong. */
  readonly since: number
}

interface Entry {
  readonly pid: number
  readonly parent: number
  readonly session: number
  readonly started: number
  readonly zombie: boolean
}

const hasProc = process.platform === "linux" && fs.existsSync("/proc/self/stat")

/** The family of a process that was just started. */
export const of = (leader: number, marker: string): Family => ({
  leader,
  marker,
  since: hasProc ? (entry(leader)?.started ?? 0) : 0
})

/** The living processes of the family. */
export const members = (family: Family): ReadonlyArray<number> => {
  if (!hasProc) return isGroupAlive(family.leader) ? [family.leader] : []
  const entries = all().filter(({ pid, started }) => started >= family.since && pid !== process.pid)
  const found = new Set(
    entries
      .filter(
        ({ pid, session }) =>
          pid === family.leader || session === family.leader || hasMarker(pid, family.marker)
      )
      .map(({ pid }) => pid)
  )
  // A parent may come after its child: ids wrap.
  for (let grown = true; grown; ) {
    grown = false
    for (const { parent, pid, session } of entries) {
      if (found.has(pid) || !(found.has(parent) || found.has(session))) continue
      found.add(pid)
      grown = true
    }
  }
  return entries.filter(({ pid, zombie }) => !zombie && found.has(pid)).map(({ pid }) => pid)
}

/**
 * Sends all of them to their end, at once and without waiting. They are stopped first: a shell whose child dies would go on with its
 * next command. Returns how many there were.
 */
export const kill = (family: Family): number => {
  if (!hasProc) {
    const alive = isGroupAlive(family.leader)
    if (alive) send(-family.leader, "SIGKILL")
    return alive ? 1 : 0
  }
  const stopped = new Set<number>()
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const fresh = members(family).filter((pid) => !stopped.has(pid))
    if (fresh.length === 0) break
    for (const pid of fresh) {
      stopped.add(pid)
      send(pid, "SIGSTOP")
    }
  }
  for (const pid of stopped) send(pid, "SIGKILL")
  return stopped.size
}

/** Ends all of them and waits until none is left, two seconds at most. What is left then is logged. */
export const end = (family: Family): Effect.Effect<void> =>
  Effect.gen(function* () {
    for (let attempt = 0; attempt < 400; attempt++) {
      if (kill(family) === 0) return
      yield* briefly
    }
    yield* Effect.logWarning(
      `bash: processes of an ended session could not be killed: ${members(family).join(", ")}`
    )
  })

/** Enough for a family that forks while it is being stopped. */
const MAX_ROUNDS = 20

/** Real time, for processes do not live by the program's clock. */
const briefly = Effect.callback<void>((resume) => {
  const timer = setTimeout(() => resume(Effect.void), 5)
  return Effect.sync(() => clearTimeout(timer))
})

const send = (pid: number, signal: NodeJS.Signals): void => {
  try {
    process.kill(pid, signal)
  } catch {
    // It has ended, or is another user's.
  }
}

const isGroupAlive = (leader: number): boolean => {
  try {
    process.kill(-leader, 0)
    return true
  } catch {
    return false
  }
}

const all = (): ReadonlyArray<Entry> =>
  fs.readdirSync("/proc").flatMap((name) => {
    const found = /^\d+$/.test(name) ? entry(Number(name)) : undefined
    return found === undefined ? [] : [found]
  })

/** `/proc/{pid}/stat`; the name of the program, in parentheses, may hold anything. */
const entry = (pid: number): Entry | undefined => {
  const stat = read(`/proc/${pid}/stat`)?.toString("latin1")
  if (stat === undefined) return undefined
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ")
  const [state, parent, , session] = fields
  return {
    pid,
    parent: Number(parent),
    session: Number(session),
    started: Number(fields[19]),
    zombie: state === "Z" || state === "X"
  }
}

const hasMarker = (pid: number, marker: string): boolean => {
  const environment = read(`/proc/${pid}/environ`)
  return environment !== undefined && `\0${environment.toString("latin1")}\0`.includes(`\0${marker}\0`)
}

const read = (file: string): Buffer | undefined => {
  try {
    return fs.readFileSync(file)
  } catch {
    // It has ended, or is another user's.
    return undefined
  }
}
