import type { SenderNow } from '@parley/channels';
import type { Clock, InboundMessage, Logger } from '@parley/contracts';
import type { CronJob, Store } from '@parley/store';

/** What both the schedule of jobs and the desk for them work with. */
export interface CronDeps {
  readonly store: Pick<Store, 'cronJobs'>;
  /** The zone in which people are told times, and in which jobs run that name no other. */
  readonly timeZone: string;
  /** Who asked for a job, as things are now; null where their account is not connected. */
  readonly senderNow: (origin: InboundMessage) => Promise<SenderNow | null>;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Whether a job may run now; `waits`: why it does not, for people. */
export type MayRun =
  | { readonly kind: 'runs'; readonly sender: SenderNow }
  | { readonly kind: 'waits'; readonly reason: string };

/** A job waits while nobody could be answered there, or its person may not write there any more. */
export async function mayRun(
  { senderNow }: Pick<CronDeps, 'senderNow'>,
  { origin }: Pick<CronJob, 'origin'>,
): Promise<MayRun> {
  const sender = await senderNow(origin);
  if (sender === null) {
    return { kind: 'waits', reason: `${origin.channel} (${origin.account}) is not connected here` };
  }
  return sender.refusal === null
    ? { kind: 'runs', sender }
    : { kind: 'waits', reason: sender.refusal };
}
