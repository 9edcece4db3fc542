import {
  type ChannelEnv,
  type ChannelState,
  guarded,
  type HttpCapability,
  realEnv,
  reportAndWait,
} from '@parley/channels';
import {
  type AdapterValues,
  type Clock,
  type Logger,
  type Monotonic,
  reasonOf,
} from '@parley/core';
import {
  type AuthenticationCreds,
  type BinaryNode,
  type ConnectionState,
  DEFAULT_CONNECTION_CONFIG,
  makeCacheableSignalKeyStore,
  makeWASocket,
  type SignalKeyStore,
  type WASocket,
} from '@whiskeysockets/baileys';
import { z } from 'zod';
import { loadCredentials, saveCredentials } from './credentials.ts';
import type { EncryptedMessages } from './decrypt.ts';
import { decideAfterConnectionFailure, FIX, getBaileysCode, WhatsAppError } from './failures.ts';
import { createBaileysLogger, maskNumbers } from './logs.ts';
import { type GroupCache, isGroup, toPersonJid } from './people.ts';
import type { SentMessageStore } from './send.ts';
import type { WhatsAppSettings } from './settings.ts';

interface ConnectionDeps extends ChannelEnv {
  /** The digits of the phone number for linking by typing a code; absent to show a QR code. */
  readonly phone: string | undefined;
  /** Creates a socket, which connects immediately. */
  readonly open: (creds: AuthenticationCreds) => WASocket;
  /** Called when the socket is connected and linked. */
  readonly onOpen: (socket: WASocket) => void;
  /**
   * Resolves when a closed socket has finished decrypting, because two sockets with the same state
   * would corrupt it.
   */
  readonly settled: () => Promise<void>;
  readonly values: AdapterValues;
  readonly report: (state: ChannelState) => void;
  readonly log: Logger;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
}

/** Why a socket was closed, and when. */
interface SocketClosure {
  readonly code: number | undefined;
  readonly reason: string;
  /** How long (ms) the socket was open. */
  readonly lasted: number;
}

/** A connection that lasted at least this long (ms) resets the failure count. */
const STABLE_AFTER_MS = 60_000;

/**
 * An account's connection, which has one socket at a time. It decides what to do when a socket
 * closes. Credentials are written in the order of their changes, and before the next socket uses
 * them.
 */
export class Connection {
  readonly #deps: ConnectionDeps;
  #creds: AuthenticationCreds | undefined;
  #socket: WASocket | undefined;
  #isOpen = false;
  /** The socket that requested the current pairing code. */
  #asked: WASocket | undefined;
  /** Closes the current socket. */
  #end: ((error: Error | undefined) => void) | undefined;
  #saving: Promise<void> = Promise.resolve();
  #failures = 0;
  #brokenSessions = 0;
  #fatal: WhatsAppError | undefined;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
  }

  /** The socket, if it is connected. */
  get socket(): WASocket | undefined {
    return this.#isOpen ? this.#socket : undefined;
  }

  get creds(): AuthenticationCreds | undefined {
    return this.#creds;
  }

  /**
   * Closes the socket immediately, so that it does not send anything more. Unless the failure is
   * fatal, another connection follows.
   */
  breakOff(reason: unknown): void {
    if (reason instanceof WhatsAppError) this.#fatal = reason;
    this.#end?.(reason instanceof Error ? reason : new Error(reasonOf(reason)));
  }

  /** Stays connected until the signal is aborted or a person has to act. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let isRetrying = true;
    while (isRetrying && !signal.aborted) {
      try {
        this.#creds ??= await loadCredentials(this.#deps.values);
        if (signal.aborted) return;
        this.#creds = removeGuessedNumber(this.#creds);
        const ending = await this.#once(this.#creds, signal);
        await Promise.all([this.#saving, this.#deps.settled()]);
        if (!signal.aborted) isRetrying = await this.#next(ending, signal);
      } catch (thrown) {
        if (thrown instanceof WhatsAppError) this.#fatal = thrown;
        const reason = reasonOf(thrown);
        if (!signal.aborted)
          isRetrying = await this.#next({ code: undefined, reason, lasted: 0 }, signal);
      }
    }
  }

  #once(creds: AuthenticationCreds, signal: AbortSignal): Promise<SocketClosure> {
    const { monotonic, open, onOpen, report } = this.#deps;
    const startedAt = monotonic();
    const socket = open(creds);
    this.#socket = socket;
    const saveCreds = guarded('creds.update', (update: Partial<AuthenticationCreds>) => {
      Object.assign(creds, update);
      this.#save(creds);
    });
    socket.ev.on('creds.update', saveCreds);
    const { promise, resolve } = Promise.withResolvers<SocketClosure>();
    const ended = (error: Error | undefined) => {
      this.#isOpen = false;
      signal.removeEventListener('abort', stop);
      const reason = maskNumbers(error?.message ?? 'the connection ended');
      resolve({ code: getBaileysCode(error, 'status'), reason, lasted: monotonic() - startedAt });
    };
    // Baileys waits until the peer has also closed, which may never happen.
    const end = (error: Error | undefined) => {
      void socket.end(error);
      ended(error);
    };
    const stop = () => end(undefined);
    this.#end = end;
    signal.addEventListener('abort', stop, { once: true });
    const updated = guarded('connection.update', (update: Partial<ConnectionState>) => {
      const { connection, lastDisconnect, qr } = update;
      if (this.#socket !== socket) return;
      if (qr != null) this.#showCode(socket, qr);
      if (connection === 'close') ended(lastDisconnect?.error);
      if (connection !== 'open') return;
      this.#isOpen = true;
      report({ kind: 'connected', as: creds.me?.name ?? 'a linked device' });
      onOpen(socket);
    });
    socket.ev.on('connection.update', updated);
    return promise;
  }

  /** QR codes are replaced periodically; a code for typing is requested once per connection. */
  #showCode(socket: WASocket, code: string): void {
    const { phone, report } = this.#deps;
    if (phone === undefined) report({ kind: 'pairing', code, how: 'scan' });
    if (phone === undefined || this.#asked === socket) return;
    this.#asked = socket;
    requestLinkingCode(socket, phone).then(
      (state) => (this.#socket === socket ? report(state) : undefined),
      (thrown: unknown) => this.breakOff(thrown),
    );
  }

  #save(creds: AuthenticationCreds): void {
    const { values, log } = this.#deps;
    this.#saving = this.#saving
      .then(() => saveCredentials(values, creds))
      .catch((thrown: unknown) => {
        log.warn({ reason: reasonOf(thrown) }, 'the credentials cannot be stored');
        this.breakOff(thrown);
      });
  }

  /** Decides what to do after a socket has closed, and returns whether to reconnect. */
  async #next({ code, reason, lasted }: SocketClosure, signal: AbortSignal): Promise<boolean> {
    const { random, report, values } = this.#deps;
    if (this.#fatal !== undefined) {
      report({ kind: 'failed', reason: this.#fatal.message, fix: FIX });
      return false;
    }
    if (lasted >= STABLE_AFTER_MS) this.#failures = this.#brokenSessions = 0;
    const counts = { failures: this.#failures, brokenSessions: this.#brokenSessions };
    const decision = decideAfterConnectionFailure({ code, reason, ...counts }, random());
    if (decision.forget) await values.clear();
    if (code !== 515) this.#failures += 1;
    this.#brokenSessions = code === 500 ? this.#brokenSessions + 1 : 0;
    if (decision.kind === 'retry' && decision.afterMs === 0) return true;
    return reportAndWait(decision, this.#deps, signal);
  }
}

/**
 * When Baileys requests a code for typing, it records the number as linked and would use that
 * number for the next login.
 */
function removeGuessedNumber(creds: AuthenticationCreds): AuthenticationCreds {
  if (creds.account !== undefined) return creds;
  const { me: _guess, ...unlinked } = creds;
  return unlinked;
}

/**
 * Requests a code for typing on the phone with this number. The code is valid for the lifetime of
 * the connection, which WhatsApp closes after about three minutes. Baileys ignores the server's
 * response, so a refusal closes the connection here.
 */
async function requestLinkingCode(
  { ws, requestPairingCode, end }: WASocket,
  phone: string,
): Promise<ChannelState> {
  ws.on('CB:iq,type:error', ({ content }: BinaryNode) => {
    const code = Array.isArray(content) ? content[0]?.attrs.code : undefined;
    const reason = `WhatsApp did not return a code for the number in channels.whatsapp.phone (${code ?? 'refused'})`;
    void end(new Error(reason));
  });
  const code = await requestPairingCode(phone);
  return { kind: 'pairing', code: `${code.slice(0, 4)}-${code.slice(4)}`, how: 'type' };
}

interface BaileysSocketDeps {
  readonly settings: WhatsAppSettings;
  readonly keys: SignalKeyStore;
  readonly encrypted: EncryptedMessages;
  readonly sent: SentMessageStore;
  readonly groups: GroupCache;
  /** Called with a message stanza before Baileys handles it. Baileys waits for the promise. */
  readonly heard: (stanza: BinaryNode, socket: WASocket) => Promise<void> | undefined;
  readonly log: Logger;
}

const Version = z.tuple([z.coerce.number(), z.coerce.number(), z.coerce.number()]);

/**
 * Creates a Baileys socket with Parley's stores and decryption. The account does not appear as
 * online (otherwise the phone would not ring), and messages outside chats are ignored.
 */
export function openSocket(parts: BaileysSocketDeps, creds: AuthenticationCreds): WASocket {
  const { settings, keys, encrypted, sent, groups, heard, log } = parts;
  const logger = createBaileysLogger(log);
  const { version } = settings;
  const socket = makeWASocket({
    waWebSocketUrl: settings.url,
    // For linking by code, WhatsApp accepts only names of browsers on known operating systems.
    browser: [settings.phone === undefined ? settings.browser : 'Windows', 'Chrome', '1.0'],
    ...(version === undefined ? {} : { version: Version.parse(version.split('.')) }),
    logger,
    // Each socket has its own cache, because keys that could not be written must not stay cached.
    auth: { creds, keys: makeCacheableSignalKeyStore(keys, logger) },
    makeSignalRepository: encrypted.wrap(DEFAULT_CONNECTION_CONFIG.makeSignalRepository),
    getMessage: async ({ id }) => (id ? sent.find(id) : undefined),
    cachedGroupMetadata: (jid) => groups.find(jid),
    shouldIgnoreJid: (jid) => !isGroup(jid) && toPersonJid(jid) === undefined,
    // A failed write closes the connection, and WhatsApp delivers the message again; long retries
    // would only delay that.
    transactionOpts: { maxCommitRetries: 2, delayBetweenTriesMs: 50 },
    syncFullHistory: false,
    markOnlineOnConnect: false,
    emitOwnEvents: false,
  });
  groups.listen(socket);
  const note = (stanza: BinaryNode) => {
    encrypted.note(stanza);
    return heard(stanza, socket);
  };
  orderSocketMessages(socket.ws, note, createConnectionBreaker(socket));
  return socket;
}

function createConnectionBreaker(socket: WASocket): (reason: unknown) => void {
  return (reason) =>
    void socket.end(reason instanceof Error ? reason : new Error('the connection was ended'));
}

type SocketWire = WASocket['ws'];

/**
 * Works around two bugs in Baileys. Baileys keeps only offline messages in order: a later message
 * can overtake them, and a known sender's message can overtake one whose sender has to be looked
 * up. Here, all messages go through the offline queue. In addition, bytes that Baileys cannot
 * decrypt cause an unhandled rejection, which would crash the process. Here, they close the
 * connection.
 */
function orderSocketMessages(
  ws: SocketWire,
  note: (stanza: BinaryNode) => Promise<void> | undefined,
  breakOff: (reason: unknown) => void,
): void {
  wrapListeners<unknown>(ws, 'message', (handle) => (data) => {
    handle(data).catch(breakOff);
  });
  wrapListeners<BinaryNode>(ws, 'CB:message', (handle) => (stanza) => {
    const noted = note(stanza);
    // A promise is returned only if there is nothing to decrypt, so that everything else stays in
    // order.
    const handled = noted?.then(() => handle(markOffline(stanza))) ?? handle(markOffline(stanza));
    handled.catch(breakOff);
  });
}

/** Baileys queues messages that have this attribute. */
function markOffline({ attrs, ...stanza }: BinaryNode): BinaryNode {
  return { ...stanza, attrs: { offline: '0', ...attrs } };
}

/** Replaces Baileys' own listeners for an event with a single listener that calls them. */
function wrapListeners<Value>(
  ws: SocketWire,
  event: string,
  wrap: (handle: (value: Value) => Promise<void>) => (value: Value) => void,
): void {
  const listeners = ws.listeners(event);
  ws.removeAllListeners(event);
  const handle = async (value: Value) => {
    for (const listener of listeners) await Reflect.apply(listener, ws, [value]);
  };
  ws.on(event, guarded(event, wrap(handle)));
}

/**
 * The QR code for the phone, as a picture on the owner's web page. It is served as `code.svg` under
 * the account's path, and only the owner may request it. The code is a secret, so the picture is
 * not stored and is removed once the account is linked.
 */
export class PairingCode implements HttpCapability {
  #code: string | undefined;

  /** Called with each new state of the account. */
  note(state: ChannelState): void {
    this.#code = state.kind === 'pairing' && state.how === 'scan' ? state.code : undefined;
  }

  async fetch(request: Request): Promise<Response> {
    const isPicture = new URL(request.url).pathname.endsWith('/code.svg');
    if (!isPicture || this.#code === undefined || request.method !== 'GET') {
      return new Response('There is no code to scan.\n', { status: 404 });
    }
    const { default: qrcode } = await import('qrcode');
    const picture = await qrcode.toString(this.#code, { type: 'svg', errorCorrectionLevel: 'L' });
    return new Response(picture, {
      headers: { 'content-type': 'image/svg+xml', 'cache-control': 'no-store' },
    });
  }
}

export interface WhatsAppEnv extends ChannelEnv {
  /** The deadline (ms) for the server's acknowledgment of a message. */
  readonly ackTimeoutMs: number;
}

/** The environment of a real process. */
export const realWhatsAppEnv: WhatsAppEnv = { ...realEnv, ackTimeoutMs: 20_000 };
