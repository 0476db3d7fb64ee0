/**
 * A small terminal: shows what a person would see after everything that was written. Knows the control sequences that the terminal
 * room uses and refuses every other.
 */
export class Screen {
  readonly isTTY = true
  readonly columns: number
  readonly #height: number
  #rows: Array<string> = [""]
  #row = 0
  #column = 0
  #saved: readonly [row: number, column: number] = [0, 0]

  constructor(columns = 40, height = 10) {
    this.columns = columns
    this.#height = height
  }

  /** The rows seen so far, those scrolled away included; without the blank ones at the end. */
  get text(): string {
    return this.#rows
      .map((row) => row.trimEnd())
      .join("\n")
      .trimEnd()
  }

  write(text: string): boolean {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: a terminal reads control sequences
    for (const [part] of text.matchAll(/\u001b\[\d*[A-Za-z]|\u001b.|[^\u001b]/gu)) this.#take(part)
    return true
  }

  #take(part: string): void {
    const command = part.startsWith("\u001b") ? part.slice(-1) : undefined
    if (command === undefined) this.#print(part)
    else if (command === "D") this.#down()
    else if (command === "A") this.#row = Math.max(this.#top, this.#row - Number(part.slice(2, -1)))
    else if (command === "7") this.#saved = [this.#row - this.#top, this.#column]
    else if (command === "8") [this.#row, this.#column] = [this.#saved[0] + this.#top, this.#saved[1]]
    else if (command === "J") this.#erase()
    else if (command !== "m") throw new Error(`The screen does not know ${JSON.stringify(part)}`)
  }

  get #top(): number {
    return Math.max(0, this.#rows.length - this.#height)
  }

  #print(character: string): void {
    if (character === "\r") this.#column = 0
    else if (character === "\n") {
      this.#column = 0
      this.#down()
    } else {
      if (this.#column >= this.columns) throw new Error("The line wrapped")
      const row = (this.#rows[this.#row] ?? "").padEnd(this.#column)
      this.#rows[this.#row] = row.slice(0, this.#column) + character + row.slice(this.#column + 1)
      this.#column++
    }
  }

  #down(): void {
    this.#row++
    if (this.#row === this.#rows.length) this.#rows.push("")
  }

  #erase(): void {
    this.#rows = this.#rows.map((row, index) =>
      index < this.#row ? row : index === this.#row ? row.slice(0, this.#column) : ""
    )
  }
}
