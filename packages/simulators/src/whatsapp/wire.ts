import {
  type BinaryNode,
  decodeBinaryNode,
  encodeBinaryNode,
  NOISE_WA_HEADER,
  S_WHATSAPP_NET,
} from '@whiskeysockets/baileys';
import type { RawData, WebSocket } from 'ws';
import { type Login, NoiseResponder, type ServerIdentity } from './noise.ts';

/** Builds a stanza; attributes without a value are left out. */
export function node(
  tag: string,
  attrs: Readonly<Record<string, string | number | undefined>> = {},
  content?: BinaryNode[] | string | Uint8Array,
): BinaryNode {
  const kept = Object.entries(attrs).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  );
  const built: BinaryNode = { tag, attrs: Object.fromEntries(kept) };
  return content === undefined ? built : { ...built, content };
}

/** The stanzas inside a stanza, or those with a tag. */
export function children(parent: BinaryNode | undefined, tag?: string): BinaryNode[] {
  const all = Array.isArray(parent?.content) ? parent.content : [];
  return tag === undefined ? all : all.filter((child) => child.tag === tag);
}

/** The first stanza with a tag inside another. */
export function child(parent: BinaryNode | undefined, tag: string): BinaryNode | undefined {
  return children(parent, tag)[0];
}

/** The content of a stanza as bytes. Short texts come off the wire as strings. */
export function bytes(holder: BinaryNode | undefined): Buffer {
  const content = holder?.content;
  if (content === undefined || Array.isArray(content)) return Buffer.alloc(0);
  return Buffer.from(content);
}

/** A big-endian number of `length` bytes. */
export function bigEndian(value: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  buffer.writeUIntBE(value, 0, length);
  return buffer;
}

/** The answer to a query. */
export function result(query: BinaryNode, content?: BinaryNode[]): BinaryNode {
  const from = query.attrs.to ?? S_WHATSAPP_NET;
  return node('iq', { from, type: 'result', id: query.attrs.id }, content);
}

/** The refusal of a query. */
export function refusal(query: BinaryNode, code: number, text: string): BinaryNode {
  const from = query.attrs.to ?? S_WHATSAPP_NET;
  return node('iq', { from, type: 'error', id: query.attrs.id }, [node('error', { code, text })]);
}

/** Closing at once would overtake the last words in the client. */
const LINGER_MS = 500;

/** The double's handling of a client. Promises are awaited: the next stanza waits for them. */
export interface LinkHandler {
  /** Before a client's first message is answered; false leaves it without an answer. */
  greets(): boolean;
  login(link: ClientLink, login: Login): void | Promise<void>;
  stanza(link: ClientLink, stanza: BinaryNode): void | Promise<void>;
  closed(link: ClientLink): void;
  failed(error: unknown): void;
}

/** One connected client: the handshake, then stanzas both ways. */
export class ClientLink {
  readonly #socket: WebSocket;
  readonly #handler: LinkHandler;
  readonly #reader = new FrameReader();
  readonly #responder: NoiseResponder;
  #greeted = false;
  /** The data that waits while the connection is stalled. */
  #stalled:
    | { readonly toClient: Buffer[]; readonly fromClient: PromiseWithResolvers<void> }
    | undefined;
  #login: Login | undefined;
  #work: Promise<void> = Promise.resolve();

  constructor(socket: WebSocket, identity: ServerIdentity, handler: LinkHandler) {
    this.#socket = socket;
    this.#handler = handler;
    this.#responder = new NoiseResponder(identity);
    socket.on('message', (data) => this.#queue(data));
    socket.on('close', () => handler.closed(this));
    socket.on('error', (error) => handler.failed(error));
  }

  get isOpen(): boolean {
    return this.#socket.readyState === this.#socket.OPEN;
  }

  /** Sends a stanza; a client that is gone gets nothing, as on a network. */
  send(stanza: BinaryNode): void {
    const sealed = this.#seal(stanza);
    if (sealed === undefined) return;
    if (this.#stalled === undefined) this.#socket.send(sealed);
    else this.#stalled.toClient.push(sealed);
  }

  /** Sends a stanza, then the connection breaks. */
  sendLast(stanza: BinaryNode): void {
    const sealed = this.#seal(stanza);
    if (sealed !== undefined) this.#socket.send(sealed, () => this.drop());
  }

  /** Sends the first half of a stanza, then the connection breaks. */
  sendHalf(stanza: BinaryNode): void {
    const sealed = this.#seal(stanza);
    if (sealed === undefined) return;
    this.#socket.send(sealed.subarray(0, sealed.length / 2), () => this.drop());
  }

  /** Sends last words; the client closes, or after a while the server does. */
  sendAndClose(stanza: BinaryNode): void {
    this.send(stanza);
    setTimeout(() => this.#socket.close(), LINGER_MS).unref();
  }

  /** Nothing comes through any more, in either direction; what was held back follows when it ends. */
  stall(isStalled: boolean): void {
    if (isStalled) {
      this.#stalled ??= { toClient: [], fromClient: Promise.withResolvers() };
      return;
    }
    const stalled = this.#stalled;
    this.#stalled = undefined;
    for (const sealed of stalled?.toClient ?? []) this.#socket.send(sealed);
    stalled?.fromClient.resolve();
  }

  /** Breaks the connection, without a word. */
  drop(): void {
    this.#socket.terminate();
  }

  #seal(stanza: BinaryNode): Buffer | undefined {
    if (this.#login === undefined || !this.isOpen) return undefined;
    return frame(this.#login.toClient.encrypt(encodeBinaryNode(stanza)));
  }

  #queue(data: RawData): void {
    const chunk = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(new Uint8Array(data));
    this.#work = this.#work
      .then(() => this.#stalled?.fromClient.promise)
      .then(() => this.#read(chunk))
      .catch((error: unknown) => {
        this.#handler.failed(error);
        this.drop();
      });
  }

  async #read(chunk: Buffer): Promise<void> {
    for (const content of this.#reader.push(chunk)) {
      if (this.#login === undefined) await this.#shakeHands(content);
      else {
        const stanza = await decodeBinaryNode(this.#login.fromClient.decrypt(content));
        await this.#handler.stanza(this, stanza);
      }
    }
  }

  async #shakeHands(content: Buffer): Promise<void> {
    if (!this.#greeted) {
      if (!this.#handler.greets()) return;
      this.#greeted = true;
      this.#socket.send(frame(this.#responder.hello(content)));
      return;
    }
    this.#login = this.#responder.finish(content);
    await this.#handler.login(this, this.#login);
  }
}

const LENGTH_BYTES = 3;

/** `ED`, two bytes of version, three of length, then routing information that a client got before. */
const ROUTING_MARK = Buffer.from('ED');
const ROUTING_HEAD = 7;

/** Cuts a client's bytes into frames: an introduction once, then three bytes of length each. */
class FrameReader {
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
function frame(content: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUIntBE(content.byteLength, 0, LENGTH_BYTES);
  return Buffer.concat([length, content]);
}
