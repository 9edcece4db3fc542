import { Writable } from 'node:stream';

// biome-ignore-start lint/suspicious/noControlCharactersInRegex: what a terminal is told begins with one
/** An escape sequence at the start of the output, or one character. */
const TOKEN = /^(?:\u001b\[(?<arguments>[\d;?]*)(?<order>[A-Za-z])|.)/su;
// biome-ignore-end lint/suspicious/noControlCharactersInRegex: see above

/**
 * Emulates the terminal features that `node:readline` and the chat screen use, and returns the text
 * that a person would see.
 */
export class FakeTerminal extends Writable {
  readonly isTTY = true;
  readonly columns: number;
  readonly rows: number;
  #screen: string[][] = [[]];
  #row = 0;
  #column = 0;

  constructor(columns = 40, rows = 12) {
    super({ decodeStrings: false });
    this.columns = columns;
    this.rows = rows;
  }

  /** All rows so far without trailing blanks, including rows that have scrolled away. */
  get text(): string {
    return this.#screen
      .map((row) => row.join('').trimEnd())
      .join('\n')
      .trimEnd();
  }

  override _write(chunk: string, _encoding: string, done: () => void): void {
    let rest = chunk;
    while (rest !== '') {
      const match = TOKEN.exec(rest);
      if (match === null) break;
      rest = rest.slice(match[0].length);
      const { order, arguments: given } = match.groups ?? {};
      if (order === undefined) this.#put(match[0]);
      else this.#obey(order, Number(given || (order === 'J' || order === 'K' ? 0 : 1)));
    }
    done();
  }

  #put(character: string): void {
    if (character === '\r') this.#column = 0;
    else if (character === '\n') this.#go(this.#row + 1, 0);
    else {
      if (this.#column >= this.columns) this.#go(this.#row + 1, 0);
      const row = this.#screen[this.#row] ?? [];
      while (row.length < this.#column) row.push(' ');
      row[this.#column] = character;
      this.#column += 1;
    }
  }

  #obey(order: string, count: number): void {
    if (order === 'A') this.#go(Math.max(this.#top, this.#row - count), this.#column);
    else if (order === 'B') this.#go(this.#row + count, this.#column);
    else if (order === 'C') this.#column += count;
    else if (order === 'D') this.#column = Math.max(0, this.#column - count);
    else if (order === 'G') this.#column = count - 1;
    else if (order === 'K') this.#screen[this.#row]?.splice(this.#column);
    else if (order === 'J') {
      this.#screen[this.#row]?.splice(this.#column);
      this.#screen.splice(this.#row + 1);
    }
  }

  /** The first row that the cursor can reach. Rows that have scrolled away are unreachable. */
  get #top(): number {
    return Math.max(0, this.#screen.length - this.rows);
  }

  #go(row: number, column: number): void {
    while (this.#screen.length <= row) this.#screen.push([]);
    this.#row = row;
    this.#column = column;
  }
}
