import { conversationIdOf, personId, type SenderNow } from '@parley/channels';
import type { CronAsker } from '@parley/contracts';
import type { CronJob } from '@parley/store';

/** Somebody who wants something of jobs, and who they are now. */
export type KnownAsker =
  | { readonly kind: 'operator' }
  | (Extract<CronAsker, { kind: 'chat' }> & {
      readonly sender: SenderNow;
      /** Their accounts, as `telegram:42`. */
      readonly accounts: readonly string[];
    });

/** Who may make jobs in chats: owners alone, or everybody who may write there. */
export type CronWho = 'owners' | 'everyone';

/** Whether somebody may make jobs. */
export function mayAdd(asker: KnownAsker, who: CronWho): boolean {
  return asker.kind === 'operator' || who === 'everyone' || asker.sender.isOwner;
}

/** Jobs are seen in their own conversation; an owner alone with the agent sees all of their own. */
export function maySee(asker: KnownAsker, job: CronJob): boolean {
  if (asker.kind === 'operator') return true;
  const { reader, accounts } = asker;
  const here = reader.conversationId;
  if (job.conversationId === here || conversationIdOf(job.origin) === here) return true;
  return reader.kind === 'owner' && accounts.includes(personId(job.origin));
}

/** Whoever asked for a job may change it, and an owner may wherever they see it. */
export function mayChange(asker: KnownAsker, job: CronJob, who: CronWho): boolean {
  if (asker.kind === 'operator') return true;
  if (!maySee(asker, job)) return false;
  const isTheirs = who === 'everyone' && asker.accounts.includes(personId(job.origin));
  return asker.sender.isOwner || isTheirs;
}
