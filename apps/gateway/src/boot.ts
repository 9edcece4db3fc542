import { findOwnerChat, type OwnerChatDeps } from '@parley/channels';
import { type Clock, type Logger, reasonOf, SILENT_TOKEN } from '@parley/core';
import type { WakeUpQueue } from '@parley/queue';
import type { AdmittedMessage, InboxRow } from '@parley/store';

/** The result of handling BOOT.md at startup. */
export type BootOutcome = 'stored' | 'nothing-to-do' | 'no-owner' | 'failed';

export interface BootDeps extends OwnerChatDeps {
  readonly lanes: Pick<WakeUpQueue, 'wake'>;
  /** Returns whether BOOT.md exists and is not empty. */
  readonly saysSomething: () => Promise<boolean>;
  readonly startId: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Has the agent follow BOOT.md once per start (W08), through a message in the direct chat that an
 * owner used last. The promise never rejects, because a failure here must not stop startup.
 */
export async function runBoot(deps: BootDeps): Promise<BootOutcome> {
  const { log, store, startId, clock } = deps;
  try {
    if (!(await deps.saysSomething())) return 'nothing-to-do';
    const chat = await findOwnerChat(deps);
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
 * The message that wakes the agent after a start. The ⚙️ mark, which the chat does not show, tells
 * the model that the message was not written by a person. The last sentence keeps the agent silent
 * if there is nothing to report (G09).
 */
const WORDS = `⚙️ Parley has just been started. Do now what BOOT.md in your workspace asks for (read it if it is not above). Your owner reads what you answer here; if there is nothing to tell, answer with exactly ${SILENT_TOKEN} and nothing else.`;

/**
 * Creates the message that makes the agent follow BOOT.md (W08), addressed to the chat in which an
 * owner wrote `last`. `startId` is unique to this start, so the inbox accepts the message only
 * once.
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
    reason: 'Parley was started, and BOOT.md contains instructions for that',
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
