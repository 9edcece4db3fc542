import { createSpendGuard, type SpendGuard, type SpendingPlace } from '@parley/agent';
import type { Logger } from '@parley/contracts';
import { strangerCap } from '@parley/settings';
import type { Store } from '@parley/store';
import type { LoadedSettings } from './read-settings.ts';

/** Where people may write whom nobody named, as `channel/account` with `direct` or `groups`. */
function openPlaces(channels: LoadedSettings['channels']): readonly string[] {
  return Object.values(channels).flatMap((one) => {
    if (one.kind !== 'ok') return [];
    const { channel, account, access } = one;
    const kinds = (['direct', 'groups'] as const).filter((kind) => access[kind] === 'open');
    return kinds.map((kind) => `${channel}/${account} ${kind}`);
  });
}

/** Whether only open access lets a person in: neither they nor the group are named in the settings. */
function isStranger(
  channels: LoadedSettings['channels'],
  { channel, account, channelUserId, groupId }: SpendingPlace,
): boolean {
  const found = channels[`${channel}/${account}`];
  if (found?.kind !== 'ok' || found.access.allow.includes(channelUserId)) return false;
  const { direct, groups, allowGroups } = found.access;
  return groupId === undefined
    ? direct === 'open'
    : groups === 'open' && !allowGroups.includes(groupId);
}

/** The guard of an installation, with a cap on strangers wherever access is open (G17). */
export function openSpendGuard(
  { settings, channels }: Pick<LoadedSettings, 'settings' | 'channels'>,
  { store, log }: { readonly store: Pick<Store, 'spend'>; readonly log: Logger },
): SpendGuard {
  const { perStrangerDaily: _resolved, ...caps } = settings.spend;
  const { cap, from } = strangerCap(settings.spend);
  logStrangerCap(log, openPlaces(channels), { cap, from });
  const deps = { store, log, isStranger: isStranger.bind(null, channels) };
  return createSpendGuard(
    deps,
    { ...caps, ...(cap !== null && { perStrangerDaily: cap }) },
    settings.agent,
  );
}

function logStrangerCap(
  log: Logger,
  places: readonly string[],
  { cap, from }: ReturnType<typeof strangerCap>,
): void {
  if (places.length === 0) return;
  if (cap === null) {
    log.warn(
      { open: places },
      'open access without a cap on strangers: spend.perStrangerDaily is off',
    );
  } else if (from === 'default') {
    const words =
      'open access: each stranger has the default cap per day; spend.perStrangerDaily changes it';
    log.info({ open: places, perStrangerDaily: cap }, words);
  }
}
