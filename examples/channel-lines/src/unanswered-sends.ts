import { ChannelError, type OutboundPart, type Receipt } from '@parley/core';
import type { LinesConnection, LinesEvent } from './connection.ts';

/** Sends that the server has not yet answered, keyed by their idempotency key. */
export class LinesSends {
  readonly #waiting = new Map<string, PromiseWithResolvers<Receipt>>();

  /** Writes a part and waits for the server's answer. Throws only `ChannelError`. */
  async send(
    connection: LinesConnection,
    { route, body, idempotencyKey: key }: OutboundPart,
    signal: AbortSignal,
  ): Promise<Receipt> {
    const sent = Promise.withResolvers<Receipt>();
    this.#waiting.set(key, sent);
    const giveUp = () => sent.reject(new ChannelError({ kind: 'unknown-outcome' }, 'no answer'));
    signal.addEventListener('abort', giveUp);
    const { chatId: room, replyToMessageId: to } = route;
    const isWritten = connection.write({ kind: 'send', key, room, text: body.text, to });
    if (!isWritten) sent.reject(new ChannelError({ kind: 'transient' }, 'not connected'));
    try {
      return await sent.promise;
    } finally {
      signal.removeEventListener('abort', giveUp);
      this.#waiting.delete(key);
    }
  }

  answered(event: Exclude<LinesEvent, { kind: 'message' }>): void {
    const send = this.#waiting.get(event.key);
    if (event.kind === 'sent') {
      send?.resolve({ platformMessageId: event.id });
      return;
    }
    const { retryAfterMs } = event;
    const failure = { kind: 'rate-limited', retryAfterMs, scope: 'chat' } as const;
    send?.reject(new ChannelError(failure, 'the server asks to wait'));
  }

  /** The part may have arrived; because of the key, sending it again is harmless. */
  lost(reason: string): void {
    for (const { reject } of this.#waiting.values()) {
      reject(new ChannelError({ kind: 'unknown-outcome' }, reason));
    }
  }
}
