import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { z } from 'zod';

/** The messages that the bot sends, as one JSON document per line. */
const ReceivedLine = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('hello'), name: z.string() }),
  z.object({ kind: z.literal('ack'), id: z.string() }),
  z.object({
    kind: z.literal('send'),
    key: z.string(),
    room: z.string(),
    text: z.string(),
    to: z.string().optional(),
  }),
]);
type ReceivedLine = z.infer<typeof ReceivedLine>;

/** A message in a room, as people see it. */
export interface LinesMessage {
  readonly id: string;
  readonly room: string;
  readonly direct: boolean;
  readonly from: string;
  readonly text: string;
  readonly mentioned: boolean;
  readonly replyTo?: { readonly id: string; readonly from: string };
}

/** The maximum length of a message, in UTF-16 units. */
const MAX_MESSAGE_LENGTH = 1_000;

/** A chat server on loopback that keeps updates until the bot acknowledges them. */
export class LinesServer {
  readonly rooms = new Map<string, LinesMessage[]>();
  /** The fault for the next send to each room. */
  readonly troubles = new Map<string, 'rate-limited' | 'lost-before' | 'lost-after'>();
  readonly #server: Server;
  readonly #unacknowledged = new Map<string, LinesMessage>();
  readonly #keys = new Map<string, string>();
  readonly #changed: () => void;
  #bot: Socket | undefined;
  #swap: 'next' | LinesMessage | undefined;
  #next = 0;

  constructor(changed: () => void) {
    this.#changed = changed;
    this.#server = createServer((socket) => {
      socket.on('error', () => {});
      createInterface(socket)
        .on('line', (line) => this.#hear(socket, ReceivedLine.parse(JSON.parse(line))))
        .on('error', () => {});
    });
  }

  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    if (address === null || typeof address === 'string') throw new Error('not listening on a port');
    return address.port;
  }

  /** Writes as a person; the message is redelivered to the bot until it is acknowledged. */
  say(message: Omit<LinesMessage, 'id'>, times = 1): string {
    const known = { ...message, id: this.#newId() };
    this.#show(known);
    this.#unacknowledged.set(known.id, known);
    if (this.#swap === 'next') this.#swap = known;
    else {
      for (let time = 0; time < times; time += 1) this.#tell({ kind: 'message', ...known });
      if (this.#swap !== undefined) this.#tell({ kind: 'message', ...this.#swap });
      this.#swap = undefined;
    }
    return known.id;
  }

  /** Delivers the next message after the one that follows it. */
  swapNext(): void {
    this.#swap = 'next';
  }

  disconnect(): void {
    this.#bot?.destroy();
    this.#bot = undefined;
  }

  async close(): Promise<void> {
    this.disconnect();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #hear(socket: Socket, line: ReceivedLine): void {
    if (line.kind === 'hello') {
      this.#bot = socket;
      for (const message of this.#unacknowledged.values()) {
        this.#tell({ kind: 'message', ...message });
      }
    } else if (line.kind === 'ack') this.#unacknowledged.delete(line.id);
    else this.#send(line);
    this.#changed();
  }

  #send({ key, room, text, to }: Extract<ReceivedLine, { kind: 'send' }>): void {
    const trouble = this.troubles.get(room);
    this.troubles.delete(room);
    if (trouble === 'lost-before') {
      this.disconnect();
      return;
    }
    if (trouble === 'rate-limited') {
      this.#tell({ kind: 'refused', key, retryAfterMs: 300 });
      return;
    }
    if (text.length > MAX_MESSAGE_LENGTH) throw new Error(`${text.length} characters are too many`);
    let id = this.#keys.get(key);
    if (id === undefined) {
      id = this.#newId();
      this.#keys.set(key, id);
      const answered = this.rooms.get(room)?.find((message) => message.id === to);
      const replyTo = answered === undefined ? {} : { replyTo: answered };
      this.#show({ id, room, direct: false, from: 'parley', text, mentioned: false, ...replyTo });
    }
    if (trouble === 'lost-after') this.disconnect();
    else this.#tell({ kind: 'sent', key, id });
  }

  #show(message: LinesMessage): void {
    this.rooms.set(message.room, [...(this.rooms.get(message.room) ?? []), message]);
    this.#changed();
  }

  #tell(line: object): void {
    this.#bot?.write(`${JSON.stringify(line)}\n`);
  }

  #newId(): string {
    this.#next += 1;
    return `m${this.#next}`;
  }
}
