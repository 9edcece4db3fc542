import { type Logger, reasonOf } from '@parley/contracts';
import type { SenderFacts } from '../adapter.ts';

/**
 * Who may use commands that change a group's conversation for everybody in it (`/new`, `/mode`,
 * `/compact`, and `/stop` of other people's turns). Each step includes those before it.
 */
export type GroupCommands = 'owners' | 'approvers' | 'administrators' | 'everyone';

/** What is known of the sender without asking the platform. */
export interface SenderRank {
  readonly isDirect: boolean;
  readonly isOwner: boolean;
  readonly isApprover: boolean;
}

/** Decides by the setting alone; `ask` where only the platform knows. */
export function groupRight(
  rule: GroupCommands,
  { isDirect, isOwner, isApprover }: SenderRank,
): 'granted' | 'denied' | 'ask' {
  if (isDirect || isOwner || rule === 'everyone') return 'granted';
  if (rule === 'owners') return 'denied';
  if (isApprover) return 'granted';
  return rule === 'administrators' ? 'ask' : 'denied';
}

/** A platform that takes longer has not confirmed that the sender is an administrator. In ms. */
const ANSWER_WITHIN_MS = 3_000;

/** As `groupRight`, and asks the platform where that decides; without an answer in time the sender has no right. */
export async function hasGroupRight(
  rule: GroupCommands,
  rank: SenderRank,
  { isAdministrator }: SenderFacts,
  log: Pick<Logger, 'warn'>,
  withinMs = ANSWER_WITHIN_MS,
): Promise<boolean> {
  const right = groupRight(rule, rank);
  if (right !== 'ask') return right === 'granted';
  if (isAdministrator === undefined) return false;
  const signal = AbortSignal.timeout(withinMs);
  const late = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => late.reject(signal.reason), { once: true });
  try {
    return await Promise.race([isAdministrator(signal), late.promise]);
  } catch (error) {
    log.warn({ reason: reasonOf(error) }, 'the platform did not say who is an administrator');
    return false;
  }
}

/** The refusal of such a command: it says who may use it. */
export function groupRefusal(name: string, rule: GroupCommands): string {
  const who = {
    owners: 'my owner',
    approvers: 'my owner and those my owner has named',
    administrators: 'administrators of this group, my owner and those my owner has named',
    everyone: 'everybody here',
  }[rule];
  return `/${name} changes this conversation for everybody here, so it is for ${who}.`;
}
