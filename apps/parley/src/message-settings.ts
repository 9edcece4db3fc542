import type { BuiltInToolDeps } from '@parley/agent';
import type { PlannedAccount } from '@parley/gateway';
import type { WakeDelivery } from '@parley/queue';
import type { Store } from '@parley/store';
import type { LoadedSettings } from './read-settings.ts';

/** What writing to other chats needs. */
export interface MessageParts {
  readonly store: Store;
  readonly deliver: WakeDelivery;
  readonly owners: readonly string[];
  readonly accounts: readonly PlannedAccount[];
}

/** Which chats the agent may write to besides the one that it answers. */
export function messagesOf(
  { tools }: Pick<LoadedSettings['settings'], 'tools'>,
  { store, deliver, owners, accounts }: MessageParts,
): NonNullable<BuiltInToolDeps['messages']> {
  return {
    store,
    owners,
    serves: servedBy(accounts),
    chats: tools.message.chats,
    deliver,
  };
}

/** Whether messages go out on an account of the settings. */
export function servedBy(
  accounts: readonly PlannedAccount[],
): (channel: string, account: string) => boolean {
  const served = new Set(
    accounts.flatMap((one) =>
      one.kind === 'ready' ? [placeOf(one.plan.definition.id, one.plan.account)] : [],
    ),
  );
  return (channel, account) => served.has(placeOf(channel, account));
}

function placeOf(channel: string, account: string): string {
  return JSON.stringify([channel, account]);
}
