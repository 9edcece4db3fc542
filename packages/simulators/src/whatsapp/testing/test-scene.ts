import makeWASocket, {
  type AuthenticationState,
  type BaileysEventMap,
  type BinaryNode,
  type ConnectionState,
  initAuthCreds,
  type UserFacingSocketConfig,
  WA_CERT_DETAILS,
  type WAMessage,
  type WASocket,
} from '@whiskeysockets/baileys';
import { onTestFinished } from 'vitest';
import { ChangeNotifier } from '../../changes.ts';
import { MemoryKeyStore } from '../memory-key-store.ts';
import { createSilentLogger, silenceLibsignal } from '../quiet.ts';
import { startWhatsAppDouble } from '../start-whatsapp-double.ts';
import type { WhatsAppDouble, WhatsAppDoubleOptions } from '../whatsapp-double.ts';

/** A double for one test and the clients connected to it; all are closed after the test. */
export interface TestScene {
  readonly double: WhatsAppDouble;
  /** Returns credentials that the double accepts as linked. */
  readonly auth: AuthenticationState;
  /** Connects another client with different credentials or settings. */
  connect(options?: Partial<UserFacingSocketConfig>): BaileysClient;
}

/** Starts a double; `connect()` returns a client that is already linked. */
export async function startScene(options: WhatsAppDoubleOptions = {}): Promise<TestScene> {
  const unhush = silenceLibsignal();
  const double = await startWhatsAppDouble(options);
  const clients: BaileysClient[] = [];
  onTestFinished(async () => {
    for (const client of clients) await client.end();
    await double.close();
    unhush();
  });
  const auth = createLinkedAuth(double);
  return {
    double,
    auth,
    connect: (config = {}) => {
      const client = new BaileysClient(double, { auth, ...config });
      clients.push(client);
      return client;
    },
  };
}

/** Starts a double with a connected client. */
export async function startConnectedScene(
  config: Partial<UserFacingSocketConfig> = {},
): Promise<TestScene & { readonly client: BaileysClient }> {
  const scene = await startScene();
  const client = scene.connect(config);
  await client.opened();
  return { ...scene, client };
}

/** A message event (`upsert`) as reported by the client. */
interface MessageUpsert {
  readonly type: BaileysEventMap['messages.upsert']['type'];
  readonly message: WAMessage;
}

/** A real Baileys client connected to a double, and the events it reported. */
export class BaileysClient {
  readonly socket: WASocket;
  readonly upserts: MessageUpsert[] = [];
  readonly updates: BaileysEventMap['messages.update'] = [];
  readonly connection: Partial<ConnectionState>[] = [];
  readonly presences: BaileysEventMap['presence.update'][] = [];
  readonly groups: BaileysEventMap['groups.upsert'] = [];
  readonly participants: BaileysEventMap['group-participants.update'][] = [];
  /** The ids of messages that the server acknowledged; Baileys has no event for this. */
  readonly acks: (string | undefined)[] = [];
  /** The server's responses to requests for a typed code. */
  readonly answers: BinaryNode[] = [];
  readonly #changes = new ChangeNotifier(() => JSON.stringify(this.connection.slice(-3)));

  constructor(
    double: WhatsAppDouble,
    options: Partial<UserFacingSocketConfig> & { auth: AuthenticationState },
  ) {
    WA_CERT_DETAILS.PUBLIC_KEY = double.rootKey;
    const { auth } = options;
    this.socket = makeWASocket({
      waWebSocketUrl: double.url,
      logger: createSilentLogger(),
      ...options,
    });
    const { ev, ws } = this.socket;
    ws.on('CB:ack,class:message', ({ attrs }: BinaryNode) => this.#note(this.acks, [attrs.id]));
    ws.on('CB:iq,type:error', (answer: BinaryNode) => this.#note(this.answers, [answer]));
    ws.on('CB:iq,,link_code_companion_reg', (answer: BinaryNode) =>
      this.#note(this.answers, [answer]),
    );
    ev.on('creds.update', (update) => Object.assign(auth.creds, update));
    ev.on('connection.update', (update) => this.#note(this.connection, [update]));
    ev.on('messages.update', (updates) => this.#note(this.updates, updates));
    ev.on('presence.update', (update) => this.#note(this.presences, [update]));
    ev.on('groups.upsert', (groups) => this.#note(this.groups, groups));
    ev.on('group-participants.update', (update) => this.#note(this.participants, [update]));
    ev.on('messages.upsert', ({ type, messages }) =>
      this.#note(
        this.upserts,
        messages.map((message) => ({ type, message })),
      ),
    );
  }

  get qr(): string | undefined {
    return this.connection.findLast(({ qr }) => qr !== undefined)?.qr;
  }

  get isOpen(): boolean {
    return this.connection.some(({ connection }) => connection === 'open');
  }

  /** The text of each message from other people, in order. */
  get texts(): string[] {
    return this.upserts.flatMap(({ message }) => getMessageText(message) ?? []);
  }

  /**
   * The status updates of the client's own message, oldest first. A receipt that arrives while
   * Baileys buffers events (100 ms) is merged into the message's upsert.
   */
  statuses(id: string | null | undefined): (number | null | undefined)[] {
    const shown = this.upserts.filter(({ message }) => message.key.id === id);
    const updated = this.updates.filter(({ key }) => key.id === id);
    return [
      ...shown.map(({ message }) => message.status),
      ...updated.map(({ update }) => update.status),
    ];
  }

  /** The reason for closing the connection: a `DisconnectReason`. */
  get closedWith(): number | undefined {
    const end = this.connection.find(({ connection }) => connection === 'close')?.lastDisconnect;
    const error: unknown = end?.error;
    return error instanceof Error && 'output' in error ? getStatusCode(error.output) : undefined;
  }

  waitFor<T>(look: () => T | undefined | false, timeoutMs = 30_000): Promise<T> {
    return this.#changes.waitFor(look, timeoutMs);
  }

  opened(): Promise<true> {
    return this.waitFor(() => this.isOpen);
  }

  end(): Promise<void> {
    return this.socket.end(undefined);
  }

  #note<T>(list: T[], more: readonly T[]): void {
    list.push(...more);
    this.#changes.changed();
  }
}

/** Credentials of a client that was never linked. */
export function createFreshAuth(): AuthenticationState {
  return { creds: initAuthCreds(), keys: new MemoryKeyStore() };
}

/** Credentials of a client that the double accepts as linked. */
function createLinkedAuth(double: WhatsAppDouble): AuthenticationState {
  const { creds, keys } = double.linkWithoutCode();
  const store = new MemoryKeyStore();
  store.set(keys);
  return { creds, keys: store };
}

/** Returns the text of a message from either of the fields that phones use. */
export function getMessageText({ message }: WAMessage): string | undefined {
  return message?.conversation ?? message?.extendedTextMessage?.text ?? undefined;
}

function getStatusCode(output: unknown): number | undefined {
  if (typeof output !== 'object' || output === null || !('statusCode' in output)) return undefined;
  return typeof output.statusCode === 'number' ? output.statusCode : undefined;
}
