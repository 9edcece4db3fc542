import { NOISE_WA_HEADER } from '@whiskeysockets/baileys';

const LENGTH_BYTES = 3;
/** `ED`, two bytes of version, three of length, then routing information that a client got before. */
const ROUTING_MARK = Buffer.from('ED');
const ROUTING_HEAD = 7;

/** Cuts a client's bytes into frames: an introduction once, then three bytes of length each. */
export class FrameReader {
  #bytes: Buffer = Buffer.alloc(0);
  #introduced = false;

  /** @throws Error when the introduction is not WhatsApp's, or of another dictionary. */
  push(chunk: Uint8Array): Buffer[] {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    if (!this.#introduced) this.#introduced = this.#skipIntroduction();
    const frames: Buffer[] = [];
    while (this.#introduced && this.#bytes.length >= LENGTH_BYTES) {
      const end = LENGTH_BYTES + this.#bytes.readUIntBE(0, LENGTH_BYTES);
      if (this.#bytes.length < end) break;
      frames.push(this.#bytes.subarray(LENGTH_BYTES, end));
      this.#bytes = this.#bytes.subarray(end);
    }
    return frames;
  }

  #skipIntroduction(): boolean {
    let start = 0;
    if (this.#bytes.subarray(0, ROUTING_MARK.length).equals(ROUTING_MARK)) {
      if (this.#bytes.length < ROUTING_HEAD) return false;
      start = ROUTING_HEAD + this.#bytes.readUIntBE(4, LENGTH_BYTES);
    }
    const end = start + NOISE_WA_HEADER.length;
    if (this.#bytes.length < end) return false;
    const header = this.#bytes.subarray(start, end);
    if (!header.equals(NOISE_WA_HEADER))
      throw new Error(`Unknown introduction ${header.toString('hex')}`);
    this.#bytes = this.#bytes.subarray(end);
    return true;
  }
}

/** A frame as it goes over the wire. */
export function frame(content: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUIntBE(content.byteLength, 0, LENGTH_BYTES);
  return Buffer.concat([length, content]);
}
