import { request } from 'node:http';
import type { UpdateQueue } from './update-queue.ts';

/** How long after a refused call the next one comes, in ms; the servers wait longer each time. */
const AGAIN_MS = 20;

/**
 * Calls the webhook, one update after the other, until each was answered with 2xx. Bodies go out in
 * two pieces, cut inside a character where there is one of several bytes.
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

  /** What getWebhookInfo tells of the last call that failed. */
  get lastError(): object {
    return this.#lastError;
  }

  /** From now on to this address; an empty one ends it. */
  call(url: string, secret: string): void {
    this.#url = url;
    this.#secret = secret;
    this.#lastError = {};
    this.wake();
  }

  /** There may be something to bring. */
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
      setTimeout(() => this.wake(), AGAIN_MS).unref();
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
