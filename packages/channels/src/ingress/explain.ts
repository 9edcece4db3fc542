import { BoundedMap, type Clock } from '@parley/core';
import type { AdmittedMessage } from '@parley/store';
import type { IngressDeps } from './ingress-deps.ts';
import { NO_ROOM, overflowNotice, strangerNotice, tooLongNotice } from './notices.ts';
import { PAIRING_FULL, pairingNotice, strangerWaits } from './pairing.ts';
import { partsOf } from './route.ts';

/** Explains to senders why a message was not admitted (D07), seldom enough to be no nuisance. */
export interface Explainer {
  /** Once an hour per sender. */
  stranger(admitted: AdmittedMessage): Promise<void>;
  /** With a code that an owner can approve; once while it is valid. */
  pairing(admitted: AdmittedMessage): Promise<void>;
  /** Once a minute per conversation, as all that is refused for its number or size. `limit` in characters. */
  tooLong(admitted: AdmittedMessage, limit: number): Promise<void>;
  /** Too many wait in this conversation. */
  overflow(admitted: AdmittedMessage, waiting: number): Promise<void>;
  /** Too many wait in all conversations together. */
  noRoom(admitted: AdmittedMessage): Promise<void>;
}

const STRANGER_NOTICE_EVERY_MS = 60 * 60_000;
const OVERFLOW_NOTICE_EVERY_MS = 60_000;

/** Sends the notices of one account; sent ones are remembered in memory, up to a bound. */
export function createExplainer(deps: IngressDeps): Explainer {
  const strangers = createSeldom(STRANGER_NOTICE_EVERY_MS, deps.clock);
  const floods = createSeldom(OVERFLOW_NOTICE_EVERY_MS, deps.clock);
  const notify = async (admitted: AdmittedMessage, markdown: string): Promise<void> => {
    const { route, receivedAt } = admitted;
    await deps.store.outbox.enqueue(partsOf(markdown, route), receivedAt);
    await deps.deliver(route);
  };
  const notifyOnce = async (bound: string, admitted: AdmittedMessage, text: string) => {
    if (floods(`${bound} ${admitted.conversationId}`)) await notify(admitted, text);
  };
  const notifyStranger = async (admitted: AdmittedMessage, markdown: string): Promise<void> => {
    if (deps.answersStrangers && strangers(admitted.message.sender.id)) {
      await notify(admitted, markdown);
    }
  };
  return {
    stranger: (admitted) => notifyStranger(admitted, strangerNotice(admitted.message)),
    async pairing(admitted) {
      const asked = await askOwner(deps, admitted);
      if (asked === 'full') await notifyStranger(admitted, PAIRING_FULL);
    },
    tooLong: (admitted, limit) =>
      notifyOnce('size', admitted, tooLongNotice(admitted.message.text.length, limit)),
    overflow: (admitted, waiting) => notifyOnce('conversation', admitted, overflowNotice(waiting)),
    noRoom: (admitted) => notifyOnce('all', admitted, NO_ROOM),
  };
}

/**
 * Stores the request of a stranger, and sends the code: to the stranger, or where the channel says
 * nothing to strangers, to an owner whose direct chat is known. The log never names the stranger.
 */
async function askOwner(deps: IngressDeps, admitted: AdmittedMessage) {
  const { message, route, receivedAt } = admitted;
  const { channel, account, sender } = message;
  const applicant = { channel, account, senderId: sender.id, senderName: sender.name, route };
  const code = deps.newCode();
  const to = deps.answersStrangers ? route : await deps.store.inbox.ownerRoute();
  const notice = deps.answersStrangers
    ? pairingNotice(message, code)
    : strangerWaits(message, code);
  const news = to === null ? [] : partsOf(notice, to);
  const asked = await deps.store.pairing.request(applicant, code, news, receivedAt);
  if (asked !== 'new') return asked;
  deps.log.info({}, 'a stranger asks for access; "parley pair" shows the code');
  if (to !== null) await deps.deliver(to);
  return asked;
}

/** Says yes once per key and interval: an explanation is kind once and spam the tenth time. */
export function createSeldom(
  intervalMs: number,
  clock: Clock,
  capacity = 1_000,
): (key: string) => boolean {
  const last = new BoundedMap<string, number>(capacity);
  return (key) => {
    const now = clock();
    const before = last.get(key);
    if (before !== undefined && now - before < intervalMs) return false;
    last.set(key, now);
    return true;
  };
}
