import { type ChannelState, guarded } from '@parley/channels';
import { type AdapterValues, type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { AuthenticationCreds, ConnectionState, WASocket } from '@whiskeysockets/baileys';
import { afterClose } from './after-close.ts';
import type { WhatsAppAmbience } from './ambience.ts';
import { loadCredentials, saveCredentials } from './auth-store.ts';
import { withoutNumbers } from './baileys-logger.ts';
import { codeOf } from './boom.ts';
import { WhatsAppError } from './whatsapp-error.ts';

/** What a connection needs. */
export interface ConnectionDeps extends Pick<WhatsAppAmbience, 'random' | 'wait'> {
  /** Makes a socket that begins to connect. */
  readonly open: (creds: AuthenticationCreds) => WASocket;
  /** The socket is connected and linked. */
  readonly opened: (socket: WASocket) => void;
  /** Resolves when nothing of an ended socket is under way: two on one state would spoil it. */
  readonly settled: () => Promise<void>;
  readonly values: AdapterValues;
  readonly report: (state: ChannelState) => void;
  readonly log: Logger;
  readonly clock: Clock;
}

/** How one socket ended. */
interface Ending {
  readonly code: number | undefined;
  readonly reason: string;
  /** How long it lasted, in ms. */
  readonly lasted: number;
}

/** A connection that lasted this long ended for a reason of its own, in ms. */
const PEACE_MS = 60_000;

/**
 * The one connection of an account: a socket at a time, and what is done when it ends. Credentials
 * are written in the order they change, and before the next socket uses them.
 */
export class Connection {
  readonly #deps: ConnectionDeps;
  #creds: AuthenticationCreds | undefined;
  #socket: WASocket | undefined;
  #isOpen = false;
  /** Ends the socket there is. */
  #end: ((error: Error | undefined) => void) | undefined;
  #saving: Promise<void> = Promise.resolve();
  #failures = 0;
  #brokenSessions = 0;
  #fatal: WhatsAppError | undefined;

  constructor(deps: ConnectionDeps) {
    this.#deps = deps;
  }

  /** The socket while it is connected. */
  get socket(): WASocket | undefined {
    return this.#isOpen ? this.#socket : undefined;
  }

  get creds(): AuthenticationCreds | undefined {
    return this.#creds;
  }

  /** Ends the socket at once, so that nothing more leaves; it is opened again, unless this is fatal. */
  breakOff(reason: unknown): void {
    if (reason instanceof WhatsAppError) this.#fatal = reason;
    this.#end?.(reason instanceof Error ? reason : new Error(reasonOf(reason)));
  }

  /** Connects until the signal is aborted or a person has to do something. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    let going = true;
    while (going && !signal.aborted) {
      try {
        this.#creds ??= await loadCredentials(this.#deps.values);
        if (signal.aborted) return;
        const ending = await this.#once(this.#creds, signal);
        await Promise.all([this.#saving, this.#deps.settled()]);
        if (!signal.aborted) going = await this.#next(ending, signal);
      } catch (thrown) {
        if (thrown instanceof WhatsAppError) this.#fatal = thrown;
        const reason = reasonOf(thrown);
        if (!signal.aborted)
          going = await this.#next({ code: undefined, reason, lasted: 0 }, signal);
      }
    }
  }

  #once(creds: AuthenticationCreds, signal: AbortSignal): Promise<Ending> {
    const { clock, open, opened, report } = this.#deps;
    const begin = clock();
    const socket = open(creds);
    this.#socket = socket;
    const saveCreds = guarded('creds.update', (update: Partial<AuthenticationCreds>) => {
      Object.assign(creds, update);
      this.#save(creds);
    });
    socket.ev.on('creds.update', saveCreds);
    const { promise, resolve } = Promise.withResolvers<Ending>();
    const ended = (error: Error | undefined) => {
      this.#isOpen = false;
      signal.removeEventListener('abort', stop);
      const reason = withoutNumbers(error?.message ?? 'the connection ended');
      resolve({ code: codeOf(error, 'status'), reason, lasted: clock() - begin });
    };
    // Baileys waits until the other side has closed as well, which may be never.
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
      if (qr != null) report({ kind: 'pairing', code: qr });
      if (connection === 'close') ended(lastDisconnect?.error);
      if (connection !== 'open') return;
      this.#isOpen = true;
      report({ kind: 'connected', as: creds.me?.name ?? 'a linked device' });
      opened(socket);
    });
    socket.ev.on('connection.update', updated);
    return promise;
  }

  #save(creds: AuthenticationCreds): void {
    const { values, log } = this.#deps;
    this.#saving = this.#saving
      .then(() => saveCredentials(values, creds))
      .catch((thrown: unknown) => {
        log.warn({ reason: reasonOf(thrown) }, 'credentials cannot be stored');
        this.breakOff(thrown);
      });
  }

  /** Gives back whether to go on. */
  async #next({ code, reason, lasted }: Ending, signal: AbortSignal): Promise<boolean> {
    const { clock, random, report, values, wait } = this.#deps;
    if (this.#fatal !== undefined) {
      report({ kind: 'failed', reason: this.#fatal.message, mend: 'Then start Parley again.' });
      return false;
    }
    if (lasted >= PEACE_MS) this.#failures = this.#brokenSessions = 0;
    const counts = { failures: this.#failures, brokenSessions: this.#brokenSessions };
    const decision = afterClose({ code, reason, ...counts }, random());
    if (decision.kind === 'give-up') {
      if (decision.forget) await values.clear();
      report({ kind: 'failed', reason: decision.reason, mend: decision.mend });
      return false;
    }
    if (code !== 515) this.#failures += 1;
    this.#brokenSessions = code === 500 ? this.#brokenSessions + 1 : 0;
    if (decision.afterMs === 0) return true;
    const nextAttemptAt = clock() + decision.afterMs;
    report({ kind: 'retrying', reason: decision.reason, nextAttemptAt });
    await wait(decision.afterMs, signal);
    return true;
  }
}
