import { request } from 'node:http';
import type { OptionalFieldMode } from '../optional-fields.ts';
import { applyOptionalFields } from './optional-fields.ts';
import { createConflictRefusal } from './request.ts';
import type { WireUpdate } from './wire.ts';

/** The parameters of one getUpdates call; `timeout` is in seconds. */
interface PollRequest {
  readonly offset: number;
  readonly limit: number;
  readonly timeout: number;
  readonly allowed: readonly string[] | undefined;
}

interface WaitingPoll {
  readonly request: PollRequest;
  readonly resolve: (updates: WireUpdate[]) => void;
  readonly reject: (refusal: Error) => void;
  readonly timer: NodeJS.Timeout;
}

const NOT_BY_DEFAULT = new Set(['chat_member', 'message_reaction', 'message_reaction_count']);
const MAX_POLL_SECONDS = 50;
const OTHER_POLLER =
  'terminated by other getUpdates request; make sure that only one bot instance is running';

/** The unconfirmed updates, and the poll that waits for more. */
export class UpdateQueue {
  #updates: WireUpdate[] = [];
  #nextId: number;
  #allowed: ReadonlySet<string> | undefined;
  #waiting: WaitingPoll | undefined;
  #webhook = '';
  /** The form of optional fields: with a value, as null, or omitted. */
  optional: OptionalFieldMode = 'present';

  readonly #changed: () => void;

  /** `changed` is called whenever updates are queued or confirmed. */
  constructor(firstId: number, changed: () => void) {
    this.#nextId = firstId;
    this.#changed = changed;
  }

  get webhook(): string {
    return this.#webhook;
  }

  /** Updates that no poll has confirmed yet. */
  get pending(): readonly WireUpdate[] {
    return this.#updates;
  }

  /** Queues an update and returns its id; skips kinds of updates that the bot did not request. */
  push(kind: string, content: unknown): number {
    const id = this.#nextId;
    this.#nextId += 1;
    const wanted = this.#allowed?.has(kind) ?? !NOT_BY_DEFAULT.has(kind);
    if (!wanted) return id;
    this.#updates.push({ update_id: id, ...applyOptionalFields(this.optional, kind, content) });
    this.#answerWaiting();
    this.#changed();
    return id;
  }

  /**
   * Implements getUpdates: an offset confirms the updates below it, and a negative offset confirms
   * all but the last few. Ends a waiting poll with 409. The signal `gone` is aborted when the
   * client disconnects.
   * @throws Refusal with status 409 while a webhook is set
   */
  poll(request: PollRequest, gone: AbortSignal): Promise<WireUpdate[]> {
    if (this.#webhook !== '') {
      throw createConflictRefusal(
        "can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first",
      );
    }
    this.endPoll();
    if (request.allowed !== undefined) this.#allow(request.allowed);
    this.#confirm(request.offset);
    const ready = this.#updates.slice(0, request.limit);
    const seconds = Math.min(request.timeout, MAX_POLL_SECONDS);
    if (ready.length > 0 || seconds <= 0) return Promise.resolve(ready);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#settle(waiting, () => resolve([])), seconds * 1000);
      const waiting: WaitingPoll = { request, resolve, reject, timer };
      this.#waiting = waiting;
      gone.addEventListener('abort', () => this.#settle(waiting, () => resolve([])), {
        once: true,
      });
    });
  }

  /** Ends the waiting poll, if any, with 409. */
  endPoll(reason = OTHER_POLLER): boolean {
    const waiting = this.#waiting;
    if (waiting !== undefined)
      this.#settle(waiting, () => waiting.reject(createConflictRefusal(reason)));
    return waiting !== undefined;
  }

  taken(updateId: number): void {
    this.#updates = this.#updates.filter(({ update_id }) => update_id !== updateId);
    this.#changed();
  }

  setWebhook(url: string, dropPending: boolean, allowed?: readonly string[]): void {
    this.#webhook = url;
    if (allowed !== undefined) this.#allow(allowed);
    if (url !== '') this.endPoll('terminated by setWebhook request');
    if (dropPending) this.#updates = [];
  }

  #allow(kinds: readonly string[]): void {
    this.#allowed = kinds.length === 0 ? undefined : new Set(kinds);
  }

  #confirm(offset: number): void {
    if (offset > 0) this.#updates = this.#updates.filter(({ update_id }) => update_id >= offset);
    if (offset < 0) this.#updates = this.#updates.slice(offset);
    this.#changed();
  }

  #answerWaiting(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#settle(waiting, () => waiting.resolve(this.#updates.slice(0, waiting.request.limit)));
  }

  #settle(waiting: WaitingPoll, answer: () => void): void {
    if (this.#waiting !== waiting) return;
    this.#waiting = undefined;
    clearTimeout(waiting.timer);
    answer();
  }
}

/** The delay after a failed call, in ms; the real servers increase the delay after each failure. */
const RETRY_DELAY_MS = 20;

/**
 * Calls the webhook with one update at a time and retries until the response is 2xx. Sends bodies
 * in two chunks, split inside a multi-byte character if there is one.
 */
export class WebhookCaller {
  readonly #updates: UpdateQueue;
  readonly #clock: () => number;
  readonly #target: string | undefined;
  #url = '';
  #secret = '';
  #busy = false;
  #lastError: object = {};

  constructor(updates: UpdateQueue, clock: () => number, target: string | undefined) {
    this.#updates = updates;
    this.#clock = clock;
    this.#target = target;
  }

  /** The last failed call, in the format of getWebhookInfo. */
  get lastError(): object {
    return this.#lastError;
  }

  /** Sets the webhook URL; an empty string removes the webhook. */
  call(url: string, secret: string): void {
    this.#url = url;
    this.#secret = secret;
    this.#lastError = {};
    this.wake();
  }

  wake(): void {
    if (this.#busy || this.#url === '' || this.#target === undefined) return;
    const [update] = this.#updates.pending;
    if (update === undefined) return;
    this.#busy = true;
    void this.#bring(this.#target, JSON.stringify(update)).then((status) => {
      this.#busy = false;
      if (status >= 200 && status < 300) {
        this.#updates.taken(update.update_id);
        this.wake();
        return;
      }
      this.#lastError = {
        last_error_date: Math.floor(this.#clock() / 1000),
        last_error_message: `Wrong response from the webhook: ${status}`,
      };
      setTimeout(() => this.wake(), RETRY_DELAY_MS).unref();
    });
  }

  #bring(target: string, body: string): Promise<number> {
    const bytes = Buffer.from(body);
    const wide = bytes.findIndex((byte) => byte > 0x7f);
    const cut = wide < 0 ? 1 : wide + 1;
    const headers = {
      'content-type': 'application/json',
      'content-length': bytes.length,
      ...(this.#secret === '' ? {} : { 'x-telegram-bot-api-secret-token': this.#secret }),
    };
    return new Promise((resolve) => {
      const call = request(target, { method: 'POST', headers }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      });
      call.on('error', () => resolve(0));
      call.setNoDelay(true);
      call.write(bytes.subarray(0, cut));
      setTimeout(() => call.end(bytes.subarray(cut)), 5);
    });
  }
}
