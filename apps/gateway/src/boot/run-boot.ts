import { type OwnersChatDeps, ownersChat } from '@parley/channels';
import { type Clock, type Logger, reasonOf } from '@parley/contracts';
import type { WakeUpQueue } from '@parley/queue';
import { bootMessage } from './boot-message.ts';

/** What became of BOOT.md at this start. */
export type BootOutcome = 'stored' | 'nothing-to-do' | 'no-owner' | 'failed';

/** What running BOOT.md needs. */
export interface BootDeps extends OwnersChatDeps {
  readonly lanes: Pick<WakeUpQueue, 'kick'>;
  /** True when there is a BOOT.md that says something. */
  readonly saysSomething: () => Promise<boolean>;
  /** Unique for this start. */
  readonly startId: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/**
 * Lets the agent do what BOOT.md says, once for this start (W08): as a message in the direct chat an
 * owner used last, on the way that all messages go. Never rejects: a start does not depend on it.
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
    await store.inbox.accept(bootMessage(last, conversationId, startId, clock()));
    await deps.lanes.kick(conversationId);
    log.info({ conversation: conversationId }, 'BOOT.md is run');
    return 'stored';
  } catch (error) {
    log.error({ reason: reasonOf(error) }, 'BOOT.md could not be run; the next start tries again');
    return 'failed';
  }
}
