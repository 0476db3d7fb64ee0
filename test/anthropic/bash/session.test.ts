/** A shell session, with real processes: what carries over, what a command comes to, what is left when it is over. */
import * as fs from "node:fs"
import * as path from "node:path"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type { BashError } from "../../../src/anthropic/bash/BashError.ts"
import * as BashSession from "../../../src/anthropic/bash/BashSession.ts"
import { until } from "../../support/Until.ts"
import * as Shells from "./Shells.ts"

/** Runs `use` with a session in a folder of its own. */
const inSession = <A, E>(
  use: (session: BashSession.BashSession["Service"], directory: string) => Effect.Effect<A, E>,
  options: BashSession.Options = {}
) =>
  Effect.gen(function* () {
    const directory = yield* Shells.folder
    const session = yield* BashSession.make({
      workingDirectory: directory,
      timeout: "20 seconds",
      ...options
    })
    return yield* use(session, directory)
  }).pipe(Effect.scoped)

const output = (session: BashSession.BashSession["Service"], command: string) =>
  Effect.map(session.run(command), ({ exitCode, output }) => [exitCode, output] as const)

const failure = (effect: Effect.Effect<unknown, BashError>) =>
  Effect.map(Effect.flip(effect), ({ message, reason }) => ({ message, reason }))

describe("a session", () => {
  it.live("carries over variables, functions, options and the working directory", () =>
    inSession((session, directory) =>
      Effect.gen(function* () {
        yield* session.run(
          "mkdir sub; cd sub; export A=1; b=2; f() { echo \"f $A $b\"; }; alias g='echo aliased'"
        )
        assert.deepStrictEqual(yield* output(session, "f; g; pwd"), [0, `f 1 2\naliased\n${directory}/sub\n`])
        assert.strictEqual(session.workingDirectory, directory)
      })
    )
  )

  it.live("gives output and errors in the order they were written, with the exit code", () =>
    inSession((session) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          yield* output(session, "echo one; echo two >&2; echo three; exit_with() { return 7; }; exit_with"),
          [7, "one\ntwo\nthree\n"]
        )
        assert.deepStrictEqual(yield* output(session, "true"), [0, ""])
        assert.deepStrictEqual(yield* output(session, "printf 'no newline'"), [0, "no newline"])
        assert.deepStrictEqual(yield* output(session, "not-a-program-at-all"), [
          127,
          "bash: line 5: not-a-program-at-all: command not found\n"
        ])
        assert.deepStrictEqual(yield* output(session, "kill -TERM $BASHPID & wait $!"), [143, ""])
        // Scripts open these by name.
        assert.deepStrictEqual(yield* output(session, "echo a > /dev/stderr; echo b > /dev/stdout"), [
          0,
          "a\nb\n"
        ])
      })
    )
  )

  const commands: ReadonlyArray<readonly [what: string, command: string, exitCode: number, output: RegExp]> =
    [
      ["a here-document", "cat <<'END'\nfirst 'line'\n$second\nEND", 0, /^first 'line'\n\$second\n$/],
      ["quotes of all kinds", `echo 'it'"'"'s' "a \\"b\\"" \\'c`, 0, /^it's a "b" 'c\n$/],
      ["an open quote", "echo 'open", 2, /unexpected EOF while looking for matching/],
      ["an open here-document", "cat <<END\ntext", 0, /text\n$/],
      ["a syntax error", "if then fi )", 2, /syntax error/],
      ["a break outside of a loop", "break; echo after", 0, /after\n$/],
      ["a return outside of a function", "return 3", 2, /can only `return'/],
      ["reading what is not there", 'read -r line; echo "[$line]"; cat; head -c 5', 0, /^\[\]\n$/],
      ["a program that reads its input", "cat | wc -c", 0, /^\s*0\n$/],
      ["comments and nothing", "# nothing\n\n", 0, /^$/],
      ["several lines", "echo a\necho b &&\\\n  echo c", 0, /^a\nb\nc\n$/],
      ["a subshell that exits", "(exit 9)", 9, /^$/],
      [
        "a pipe that fails late",
        "set -o pipefail; false | true; code=$?; set +o pipefail; (exit $code)",
        1,
        /^$/
      ],
      ["bytes that are no text", "printf '\\xff\\x00a'", 0, /^\ufffd\u2400a$/],
      [
        "redirections of its own output",
        "exec >/dev/null; echo gone; exec >/dev/stderr; echo back",
        0,
        /back\n$/
      ],
      [
        "an alias of what we use",
        "builtin() { echo caught; }; printf() { echo caught; }; eval true; unset -f builtin printf",
        0,
        /^$/
      ],
      ["traps", "trap 'echo trapped' DEBUG; echo x; trap - DEBUG", 0, /x\n/]
    ]
  for (const [what, command, exitCode, expected] of commands) {
    it.live(`takes ${what}, and goes on`, () =>
      inSession((session) =>
        Effect.gen(function* () {
          yield* session.run("kept=yes")
          const [code, text] = yield* output(session, command)
          assert.match(text, expected)
          assert.strictEqual(code, exitCode)
          const next = yield* session.run("echo $kept > /dev/stderr")
          assert.deepStrictEqual([next.output, next.restarted], ["yes\n", undefined])
        })
      )
    )
  }

  it.live("ends with `exit`, and the next command is told of its new shell", () =>
    inSession((session, directory) =>
      Effect.gen(function* () {
        yield* session.run("cd /; lost=1")
        const ended = yield* session.run("echo bye; exit 3")
        assert.deepStrictEqual(
          [ended.output, ended.exitCode, ended.ended, ended.signal],
          ["bye\n", 3, true, null]
        )
        const next = yield* session.run('echo "[$lost] $PWD"')
        assert.strictEqual(next.output, `[] ${directory}\n`)
        const killed = yield* session.run("kill -KILL $$")
        assert.deepStrictEqual([killed.exitCode, killed.ended, killed.signal], [null, true, "SIGKILL"])
        const strict = yield* session.run("set -e; false; echo never")
        assert.deepStrictEqual([strict.output, strict.ended, strict.exitCode], ["", true, 1])
        const replaced = yield* session.run("exec echo replaced")
        assert.deepStrictEqual([replaced.output, replaced.ended, replaced.exitCode], ["replaced\n", true, 0])
      })
    )
  )

  it.live("says when something ended its shell between two commands", () =>
    inSession((session) =>
      Effect.gen(function* () {
        const { output } = yield* session.run("echo $$")
        process.kill(Number(output), "SIGKILL")
        yield* until("the shell is gone", () => Shells.alive("--norc") === 0)
        yield* Effect.sleep(20)
        assert.strictEqual((yield* session.run("echo here")).restarted, "ended")
      })
    )
  )

  it.live("runs commands that come at once one after the other", () =>
    inSession((session) =>
      Effect.gen(function* () {
        const all = yield* Effect.forEach(
          ["a", "b", "c", "d"],
          (name) => output(session, `printf ${name}; sleep 0.02; count=$((count + 1)); printf $count`),
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          all.map(([, text]) => text),
          ["a1", "b2", "c3", "d4"]
        )
      })
    )
  )

  it.live("tells what processes in the background have written since", () =>
    inSession((session, directory) =>
      Effect.gen(function* () {
        const first = yield* session.run(
          "(while [ ! -e go ]; do sleep 0.01; done; echo from behind; touch done) & echo started"
        )
        assert.strictEqual(first.output, "started\n")
        fs.writeFileSync(path.join(directory, "go"), "")
        yield* until("it has written", () => fs.existsSync(path.join(directory, "done")))
        const next = yield* session.run("echo now")
        // What had not been read yet when the command began stands before what that wrote.
        assert.strictEqual(next.background + next.output, "from behind\nnow\n")
      })
    )
  )

  it.live("keeps the beginning and the end of what is too long, and says how much is missing", () =>
    inSession(
      (session) =>
        Effect.gen(function* () {
          const { output } = yield* session.run("seq 1 100000")
          assert.match(output, /^1\n2\n3\n/)
          assert.match(output, /\n99999\n100000\n$/)
          const [, missing] = /\[… (\d+) bytes of output are left out here …\]/.exec(output) ?? []
          const shown = output.replace(/\n\[…[^\]]*…\]\n/, "").length
          assert.strictEqual(Number(missing) + shown, 588_895)
          assert.isAtMost(shown, 1000)
          assert.strictEqual((yield* session.run("echo short")).output, "short\n")
        }),
      { maxOutputBytes: 1000 }
    )
  )

  it.live("is not fooled by a command that writes what ends a command", () =>
    inSession((session) =>
      Effect.gen(function* () {
        const guess =
          "printf '\\0%s\\0' 0123456789abcdef0123456789abcdef; for fd in /proc/self/fd/*; do { echo 0123 0 > $fd; } 2>/dev/null; done; echo end"
        const { exitCode, output } = yield* session.run(guess)
        assert.strictEqual(exitCode, 0)
        assert.match(output, /end\n$/)
        assert.strictEqual((yield* session.run("echo fine")).output, "fine\n")
      })
    )
  )

  it.live("has no open files of this process", () =>
    Effect.gen(function* () {
      const directory = yield* Shells.folder
      fs.writeFileSync(path.join(directory, "secret.txt"), "secret")
      // As one that was started with files open, which Node hands on to every program.
      const { output } = yield* Shells.program(
        `import * as Effect from "effect/Effect"
        import * as BashSession from "${Shells.session}"
        await Effect.runPromise(Effect.scoped(Effect.gen(function* () {
          const session = yield* BashSession.make()
          const { output } = yield* session.run("cat <&7; cat <&42; ls /dev/fd | tr '\\n' ' '")
          console.log(output)
        })))`,
        ["7<secret.txt", "42<secret.txt"].map((file) => file.replace("secret", `${directory}/secret`))
      )
      assert.notInclude(output, "secret")
      assert.match(output, /7: Bad file descriptor/)
      assert.match(output, /42: Bad file descriptor/)
      assert.match(output, /^0 1 2 3 $/m)
    }).pipe(Effect.scoped)
  )

  it.live("has the environment that is named, and nothing else of this process", () => {
    process.env["TOOLSPAN_TEST_SECRET"] = "sk-secret"
    process.env["TOOLSPAN_TEST_WANTED_ONE"] = "1"
    return inSession(
      (session) =>
        Effect.gen(function* () {
          const { output } = yield* session.run("env")
          assert.notInclude(output, "sk-secret")
          assert.include(output, "TOOLSPAN_TEST_WANTED_ONE=1\n")
          assert.include(output, "GIVEN=with spaces\n")
          assert.include(output, `PATH=${process.env["PATH"]}\n`)
        }),
      { inheritEnvironment: ["TOOLSPAN_TEST_WANTED_*"], environment: { GIVEN: "with spaces" } }
    ).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          delete process.env["TOOLSPAN_TEST_SECRET"]
          delete process.env["TOOLSPAN_TEST_WANTED_ONE"]
        })
      )
    )
  })
})

describe("a command that is refused, or fails to run", () => {
  it.live("holds what no program can be given", () =>
    inSession((session) =>
      Effect.gen(function* () {
        const nul = yield* failure(session.run("echo a\0b"))
        assert.strictEqual(nul.reason, "BadCommand")
        assert.include(nul.message, "at index 6")
        assert.strictEqual((yield* failure(session.run("echo \ud800"))).reason, "BadCommand")
      })
    )
  )

  it.live("has no shell, or no folder", () =>
    Effect.gen(function* () {
      const shell = yield* inSession((session) => failure(session.run("true")), { shell: "no-such-bash" })
      assert.deepStrictEqual(shell, {
        reason: "ShellUnavailable",
        message:
          "The shell cannot be started: no-such-bash is not installed, or not on the PATH. Nothing was run."
      })
      const folder = yield* inSession((session) => failure(session.run("true")), {
        workingDirectory: "/no/such/folder"
      })
      assert.include(folder.message, 'its working directory "/no/such/folder" is not there')
    })
  )

  it.live("comes after the session", () =>
    Effect.gen(function* () {
      const { close, session } = yield* Shells.closable({})
      yield* session.run("true")
      yield* close
      assert.deepStrictEqual(yield* failure(session.run("true")), {
        reason: "ShellUnavailable",
        message: "The shell session of this tool is closed. Nothing was run."
      })
    }).pipe(Effect.scoped)
  )

  it("has an option that makes no sense", () => {
    assert.throws(
      () => Effect.runSync(Effect.scoped(BashSession.make({ maxOutputBytes: 1 }))),
      'BashSession: option "maxOutputBytes" is 1; allowed: an integer, at least 256'
    )
  })
})

/** Ways to leave a process behind; each has a number of seconds to sleep among its arguments. */
const escapes: ReadonlyArray<readonly [what: string, command: (seconds: string) => string]> = [
  ["in the background", (seconds) => `sleep ${seconds} &`],
  ["with nohup", (seconds) => `nohup sleep ${seconds} > /dev/null 2>&1 &`],
  ["disowned", (seconds) => `sleep ${seconds} & disown`],
  ["in a session of its own", (seconds) => `setsid sleep ${seconds} &`],
  ["by two forks", (seconds) => `(setsid sh -c 'sleep ${seconds} & sleep ${seconds}' &) &`],
  ["deaf to signals", (seconds) => `sh -c 'trap "" TERM HUP INT; sleep ${seconds}; sleep ${seconds}' &`],
  ["under another name", (seconds) => `(exec -a innocent sleep ${seconds}) &`],
  [
    "stopped",
    (seconds) => `sleep ${seconds} & until [ "$(cat /proc/$!/comm)" = sleep ]; do :; done; kill -STOP $!`
  ]
]

describe("no process is left", () => {
  const sleeping = (seconds: string) => () => Shells.alive(seconds) > 0
  const gone = (seconds: string) => () => Shells.alive(seconds) === 0

  for (const [what, command] of escapes) {
    it.live(`by the end of the scope: ${what}`, () =>
      Effect.gen(function* () {
        const seconds = Shells.uniqueSeconds()
        const { close, session } = yield* Shells.closable({})
        yield* session.run(command(seconds))
        yield* until("it runs", sleeping(seconds))
        yield* close
        // Not soon: when the scope is closed.
        assert.strictEqual(Shells.alive(seconds), 0)
      }).pipe(Effect.scoped)
    )
  }

  it.live("by a restart, a timeout, `exit`, or the interruption of a command", () =>
    inSession(
      (session) =>
        Effect.gen(function* () {
          const [restart, timeout, exit, interrupt] = [0, 1, 2, 3].map(() => Shells.uniqueSeconds())
          yield* session.run(`setsid sleep ${restart} &`)
          yield* until("it runs", sleeping(restart ?? ""))
          yield* session.restart
          assert.strictEqual(Shells.alive(restart ?? ""), 0)

          const late = yield* failure(
            session.run(`echo begun; setsid sleep ${timeout} & sleep ${timeout}; echo never`)
          )
          assert.strictEqual(late.reason, "TimedOut")
          assert.match(late.message, /^The command did not end within 1s\. It was killed/)
          assert.match(late.message, /Output until then:\nbegun\n$/)
          assert.strictEqual(Shells.alive(timeout ?? ""), 0)

          yield* session.run(`setsid sleep ${exit} & exit 0`)
          yield* until("it is gone", gone(exit ?? ""))

          const running = yield* Effect.forkChild(session.run(`sleep ${interrupt}; touch never`))
          yield* until("it runs", sleeping(interrupt ?? ""))
          yield* Fiber.interrupt(running)
          assert.strictEqual(Shells.alive(interrupt ?? ""), 0)
          const next = yield* session.run("ls")
          assert.deepStrictEqual([next.output, next.restarted], ["", "cancelled"])
        }),
      { timeout: "1 second" }
    )
  )

  it.live("by the end of the program, closed or not", () =>
    Effect.gen(function* () {
      const seconds = Shells.uniqueSeconds()
      yield* Shells.program(`
        import * as Effect from "effect/Effect"
        import * as BashSession from "${Shells.session}"
        await Effect.runPromise(Effect.scoped(Effect.gen(function* () {
          const session = yield* BashSession.make()
          yield* session.run("setsid sleep ${seconds} & while ! pgrep -f 'sleep ${seconds}' > /dev/null; do sleep 0.01; done")
          process.exit(0)
        })))
      `)
      assert.strictEqual(Shells.alive(seconds), 0)
    }).pipe(Effect.scoped)
  )

  it.live("of a sandbox, whatever it does to hide", () =>
    Effect.gen(function* () {
      const seconds = Shells.uniqueSeconds()
      const { close, session } = yield* Shells.closable({ sandbox: BashSession.PID_NAMESPACE })
      const { output } = yield* session.run(
        `(env -i setsid sh -c 'sleep ${seconds} &' &) ; sleep 0.1; ps -A | wc -l`
      )
      yield* until("it runs", sleeping(seconds))
      // It sees its own processes alone.
      assert.isBelow(Number(output), 10)
      yield* close
      yield* until("it is gone", gone(seconds))
    }).pipe(Effect.scoped)
  )
})
