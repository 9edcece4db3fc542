import type { AdmittedMessage } from '@parley/store';
import { createAlbumTracker } from './albums.ts';
import type { IngressDeps } from './ingress-deps.ts';
import { createBacklogLimit, createIntervalGate, createLoopGuard } from './limits.ts';
import {
  createOverflowNotice,
  createStrangerNotice,
  createTooLongNotice,
  GIVEN_UP,
  NO_ROOM,
} from './notices.ts';
import { getPairingRules, pairingFull, requestPairing } from './pairing.ts';
import { renderNoticeParts } from './route.ts';

/** What one account's ingress remembers between messages, bounded and in memory. */
export type IngressMemory = ReturnType<typeof createIngressMemory>;

export function createIngressMemory(deps: IngressDeps) {
  const { monotonic, store } = deps;
  return {
    explain: createRefusalExplainer(deps),
    albums: createAlbumTracker(monotonic),
    backlog: createBacklogLimit(store.inbox, () => deps.rules.limits.totalWaiting, monotonic),
    isLoop: createLoopGuard(monotonic),
    /** Whether to record a group that is not allowed; true once per group and interval. */
    shouldRecordGroup: createIntervalGate(GROUP_NOTED_INTERVAL_MS, monotonic),
  };
}

/** A busy group that is not allowed costs one write per interval. */
const GROUP_NOTED_INTERVAL_MS = 5 * 60_000;

const STRANGER_NOTICE_INTERVAL_MS = 60 * 60_000;
const OVERFLOW_NOTICE_INTERVAL_MS = 60_000;

/** Explains to senders why a message was refused (D07), at a limited rate. */
function createRefusalExplainer(deps: IngressDeps) {
  const strangers = createIntervalGate(STRANGER_NOTICE_INTERVAL_MS, deps.monotonic);
  const floods = createIntervalGate(OVERFLOW_NOTICE_INTERVAL_MS, deps.monotonic);
  const notify = async (admitted: AdmittedMessage, markdown: string): Promise<void> => {
    const { route, receivedAt } = admitted;
    await deps.store.outbox.enqueue(renderNoticeParts(markdown, route), receivedAt);
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
    /** Sent at most once an hour per sender. */
    stranger: (admitted: AdmittedMessage) =>
      notifyStranger(admitted, createStrangerNotice(admitted.message)),
    /** Contains a code that an owner can approve; sent once while the code is valid. */
    async pairing(admitted: AdmittedMessage) {
      const asked = await requestPairing(deps, admitted);
      if (asked === 'full') await notifyStranger(admitted, pairingFull(getPairingRules(deps)));
    },
    /**
     * Sent at most once a minute per conversation, like all refusals because of a limit. `limit` is
     * in characters.
     */
    tooLong: (admitted: AdmittedMessage, limit: number) =>
      notifyOnce('size', admitted, createTooLongNotice(admitted.message.text.length, limit)),
    /** Too many messages wait in this conversation. */
    overflow: (admitted: AdmittedMessage, waiting: number) =>
      notifyOnce('conversation', admitted, createOverflowNotice(waiting)),
    /** Too many messages wait in all conversations together. */
    noRoom: (admitted: AdmittedMessage) => notifyOnce('all', admitted, NO_ROOM),
    /** Receiving the message has crashed the process too often. */
    givenUp: (admitted: AdmittedMessage) => notifyOnce('fatal', admitted, GIVEN_UP),
  };
}
