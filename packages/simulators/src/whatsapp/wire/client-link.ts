import { type BinaryNode, decodeBinaryNode, encodeBinaryNode } from '@whiskeysockets/baileys';
import type { RawData, WebSocket } from 'ws';
import { FrameReader, frame } from './frames.ts';
import { type Login, NoiseResponder } from './noise-responder.ts';
import type { ServerIdentity } from './server-identity.ts';

/** Closing at once would overtake the last words in the client. */
const LINGER_MS = 500;

/** What the double does about a client. Promises are awaited: the next stanza waits for them. */
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
  /** What waits while the connection is stalled. */
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
