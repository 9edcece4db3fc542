import type { Clock } from '@parley/contracts';
import type { AdmittedMessage, OutboxRepository } from '@parley/store';
import { overflowNotice, strangerNotice, tooLongNotice } from './notices.ts';
import { partsOf } from './parts-of.ts';
import { createSeldom } from './seldom.ts';

/** Tells people why a message of theirs was not taken (D07), seldom enough to be no nuisance. */
export interface Explainer {
  /** Once an hour per sender: whoever goes on writing knows by then. */
  stranger(admitted: AdmittedMessage): Promise<void>;
  /** Each time: the sender may write here and waits for an answer. `limit` in characters. */
  tooLong(admitted: AdmittedMessage, limit: number): Promise<void>;
  /** Once a minute per conversation: a flood is told once, the next flood again. */
  overflow(admitted: AdmittedMessage, waiting: number): Promise<void>;
}

/** What explaining needs. */
export interface ExplainerDeps {
  readonly store: { readonly outbox: Pick<OutboxRepository, 'enqueue'> };
  /** Wakes the delivery of a chat of this account. */
  readonly deliver: (chatId: string) => Promise<void>;
  readonly clock: Clock;
}

const STRANGER_TOLD_EVERY_MS = 60 * 60_000;
const OVERFLOW_TOLD_EVERY_MS = 60_000;

/** Makes the explainer of one account; what was told is remembered in memory, for a bounded number. */
export function createExplainer(deps: ExplainerDeps): Explainer {
  const strangers = createSeldom(STRANGER_TOLD_EVERY_MS, deps.clock);
  const floods = createSeldom(OVERFLOW_TOLD_EVERY_MS, deps.clock);
  const tell = async (admitted: AdmittedMessage, markdown: string): Promise<void> => {
    const { route, receivedAt } = admitted;
    await deps.store.outbox.enqueue(partsOf(markdown, route), receivedAt);
    await deps.deliver(route.chatId);
  };
  return {
    async stranger(admitted) {
      const { message } = admitted;
      if (strangers(message.sender.id)) await tell(admitted, strangerNotice(message));
    },
    tooLong: (admitted, limit) =>
      tell(admitted, tooLongNotice(admitted.message.text.length, limit)),
    async overflow(admitted, waiting) {
      if (floods(admitted.conversationId)) await tell(admitted, overflowNotice(waiting));
    },
  };
}
