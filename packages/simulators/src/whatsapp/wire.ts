import {
  type BinaryNode,
  decodeBinaryNode,
  encodeBinaryNode,
  NOISE_WA_HEADER,
  S_WHATSAPP_NET,
} from '@whiskeysockets/baileys';
import type { RawData, WebSocket } from 'ws';
import { type HandshakeResult, NoiseResponder, type ServerIdentity } from './noise.ts';

/** Builds a stanza; attributes without a value are omitted. */
export function buildNode(
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

/** Returns the children of a stanza, optionally only those with a tag. */
export function listChildren(parent: BinaryNode | undefined, tag?: string): BinaryNode[] {
  const all = Array.isArray(parent?.content) ? parent.content : [];
  return tag === undefined ? all : all.filter((child) => child.tag === tag);
}

export function findChild(parent: BinaryNode | undefined, tag: string): BinaryNode | undefined {
  return listChildren(parent, tag)[0];
}

/**
 * Returns the content of a stanza as bytes, including short content that Baileys decoded as a
 * string.
 */
export function readBytes(holder: BinaryNode | undefined): Buffer {
  const content = holder?.content;
  if (content === undefined || Array.isArray(content)) return Buffer.alloc(0);
  return Buffer.from(content);
}

/** Encodes a big-endian number in `length` bytes. */
export function toBigEndian(value: number, length: number): Buffer {
  const buffer = Buffer.alloc(length);
  buffer.writeUIntBE(value, 0, length);
  return buffer;
}

export function createResult(query: BinaryNode, content?: BinaryNode[]): BinaryNode {
  const from = query.attrs.to ?? S_WHATSAPP_NET;
  return buildNode('iq', { from, type: 'result', id: query.attrs.id }, content);
}

export function createRefusal(query: BinaryNode, code: number, text: string): BinaryNode {
  const from = query.attrs.to ?? S_WHATSAPP_NET;
  return buildNode('iq', { from, type: 'error', id: query.attrs.id }, [
    buildNode('error', { code, text }),
  ]);
}

/** The delay before closing; without it, the client might see the close before the last stanza. */
const LINGER_MS = 500;

/**
 * The callbacks with which the double handles a client; promises are awaited before the next stanza
 * is handled.
 */
export interface LinkHandler {
  /** Called before a client's first message is answered; `false` leaves the message unanswered. */
  greets(): boolean;
  login(link: ClientLink, login: HandshakeResult): void | Promise<void>;
  stanza(link: ClientLink, stanza: BinaryNode): void | Promise<void>;
  closed(link: ClientLink): void;
  failed(error: unknown): void;
}

/** The connection of one client: the handshake, followed by stanzas in both directions. */
export class ClientLink {
  readonly #socket: WebSocket;
  readonly #handler: LinkHandler;
  readonly #reader = new FrameReader();
  readonly #responder: NoiseResponder;
  #greeted = false;
  /** The data held back while the connection is stalled. */
  #stalled:
    | { readonly toClient: Buffer[]; readonly fromClient: PromiseWithResolvers<void> }
    | undefined;
  #login: HandshakeResult | undefined;
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

  /** Sends a stanza; drops it if the client has disconnected, as a network would. */
  send(stanza: BinaryNode): void {
    const sealed = this.#seal(stanza);
    if (sealed === undefined) return;
    if (this.#stalled === undefined) this.#socket.send(sealed);
    else this.#stalled.toClient.push(sealed);
  }

  /** Sends a stanza and then drops the connection. */
  sendLast(stanza: BinaryNode): void {
    const sealed = this.#seal(stanza);
    if (sealed !== undefined) this.#socket.send(sealed, () => this.drop());
  }

  /** Sends the first half of a stanza and then drops the connection. */
  sendHalf(stanza: BinaryNode): void {
    const sealed = this.#seal(stanza);
    if (sealed === undefined) return;
    this.#socket.send(sealed.subarray(0, sealed.length / 2), () => this.drop());
  }

  /**
   * Sends a last stanza and waits for the client to close the connection; after a delay the server
   * closes it.
   */
  sendAndClose(stanza: BinaryNode): void {
    this.send(stanza);
    setTimeout(() => this.#socket.close(), LINGER_MS).unref();
  }

  /** Holds back all data in both directions, or releases it. */
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

  /** Drops the connection without a close frame. */
  drop(): void {
    this.#socket.terminate();
  }

  #seal(stanza: BinaryNode): Buffer | undefined {
    if (this.#login === undefined || !this.isOpen) return undefined;
    return encodeFrame(this.#login.toClient.encrypt(encodeBinaryNode(stanza)));
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
      this.#socket.send(encodeFrame(this.#responder.hello(content)));
      return;
    }
    this.#login = this.#responder.finish(content);
    await this.#handler.login(this, this.#login);
  }
}

const LENGTH_BYTES = 3;

/**
 * An introduction: `ED`, two bytes of version, three bytes of length, and routing information that
 * the client received earlier.
 */
const ROUTING_MARK = Buffer.from('ED');
const ROUTING_HEAD = 7;

/**
 * Splits a client's bytes into frames: an introduction once, then a three-byte length before each
 * frame.
 */
class FrameReader {
  #bytes: Buffer = Buffer.alloc(0);
  #introduced = false;

  /** @throws Error when the introduction is not WhatsApp's or has another dictionary version */
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

function encodeFrame(content: Uint8Array): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUIntBE(content.byteLength, 0, LENGTH_BYTES);
  return Buffer.concat([length, content]);
}
