import type { ChannelDefinition } from '@parley/channels';
import type { PlannedAccount } from '@parley/gateway';
import type { LoadedSettings } from './read-settings.ts';

/** The accounts the gateway opens, by the settings; a broken one is passed on with its reason (D12). */
export function planAccounts(
  loaded: LoadedSettings,
  owners: readonly string[],
  channels: readonly ChannelDefinition[],
): PlannedAccount[] {
  const { limits, approvals, lanes } = loaded.settings;
  const { busy } = lanes;
  const { approvers } = approvals;
  const plans: PlannedAccount[] = [];
  for (const checked of Object.values(loaded.channels)) {
    const { channel, account } = checked;
    const definition = channels.find(({ id }) => id === channel);
    if (checked.kind === 'disabled' || !definition) continue;
    if (checked.kind === 'broken') {
      const problems = checked.problems.map(({ path, expected }) => `${path} must be ${expected}`);
      plans.push({ kind: 'broken', channel, account, reason: `${problems.join('; ')}.` });
      continue;
    }
    const { access, activation, answers, settings, whenUncertain } = checked;
    const rules = { policy: { access, activation, answers }, owners, approvers, limits, busy };
    plans.push({ kind: 'ready', plan: { definition, account, settings, rules, whenUncertain } });
  }
  return plans;
}
