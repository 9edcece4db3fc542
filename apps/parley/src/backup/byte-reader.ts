/** Takes bytes from a stream in the portions that somebody wants. Throws `tooShort` when it ends before that. */
export class ByteReader {
  readonly #source: AsyncIterator<Buffer>;
  readonly #tooShort: () => Error;
  #ready: Buffer = Buffer.alloc(0);

  constructor(source: AsyncIterable<Buffer>, tooShort: () => Error) {
    this.#tooShort = tooShort;
    this.#source = source[Symbol.asyncIterator]();
  }

  /** At least one and at most `most` bytes. */
  async some(most: number): Promise<Buffer> {
    while (this.#ready.length === 0) {
      const next = await this.#source.next();
      if (next.done === true) throw this.#tooShort();
      this.#ready = next.value;
    }
    const taken = this.#ready.subarray(0, most);
    this.#ready = this.#ready.subarray(taken.length);
    return taken;
  }

  async exactly(size: number): Promise<Buffer> {
    const parts: Buffer[] = [];
    for (let left = size; left > 0; ) {
      const part = await this.some(left);
      parts.push(part);
      left -= part.length;
    }
    return Buffer.concat(parts);
  }

  async skip(size: number): Promise<void> {
    await this.exactly(size);
  }
}
