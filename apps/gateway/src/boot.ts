import { type OwnersChatDeps, ownersChat } from '@parley/channels';
import { type Clock, type Logger, reasonOf, SILENT_TOKEN } from '@parley/core';
import type { WakeUpQueue } from '@parley/queue';
import type { AdmittedMessage, InboxRow } from '@parley/store';

/** What happened to BOOT.md at this start. */
export type BootOutcome = 'stored' | 'nothing-to-do' | 'no-owner' | 'failed';

export interface BootDeps extends OwnersChatDeps {
  readonly lanes: Pick<WakeUpQueue, 'wake'>;
  /** True when BOOT.md exists and is not empty. */
  readonly saysSomething: () => Promise<boolean>;
  /** Unique to this start. */
  readonly startId: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Lets the agent follow BOOT.md, once per start (W08): as a message in the direct chat that an
 * owner used last, processed like any other message. Never rejects, because startup must not depend
 * on it.
 */
export async function runBoot(deps: BootDeps): Promise<BootOutcome> {
  const { log, store, startId, clock } = deps;
  try {
    if (!(await deps.saysSomething())) return 'nothing-to-do';
    const chat = await ownersChat(deps);
    if (chat === null) {
      log.warn({}, 'BOOT.md is not run: no owner has written in a direct chat yet');
      return 'no-owner';
    }
    const { last, conversationId } = chat;
    await store.inbox.accept(createBootMessage(last, conversationId, startId, clock()));
    await deps.lanes.wake(conversationId);
    log.info({ conversation: conversationId }, 'BOOT.md was passed to the agent');
    return 'stored';
  } catch (error) {
    log.error({ reason: reasonOf(error) }, 'BOOT.md could not be run; the next start tries again');
    return 'failed';
  }
}

/**
 * The message that wakes the agent after a start. The mark tells the model that no person wrote it;
 * the chat does not show the message. The last sentence keeps a start without news silent (G09).
 */
const WORDS = `⚙️ Parley has just been started. Do now what BOOT.md in your workspace asks for (read it if it is not above). Your owner reads what you answer here; if there is nothing to tell, answer with exactly ${SILENT_TOKEN} and nothing else.`;

/**
 * The message that makes the agent follow BOOT.md (W08), addressed to the chat where an owner wrote
 * `last`. `startId` is unique to this start: the inbox accepts a message with that id only once.
 * `now` is in ms.
 */
function createBootMessage(
  last: InboxRow,
  conversationId: string,
  startId: string,
  now: number,
): AdmittedMessage {
  const { channel, account, chat, sender } = last.message;
  return {
    conversationId,
    route: last.route,
    receivedAt: now,
    fromOwner: true,
    reason: 'Parley was started, and BOOT.md says what to do then',
    message: {
      channel,
      account,
      messageId: startId,
      chat,
      sender,
      text: WORDS,
      mentions: [],
      addressed: true,
      sentAt: now,
      variables: {},
      trigger: 'boot',
    },
  };
}
