import type { ChannelDefinition } from '@parley/channels';
import type { Clock } from '@parley/core';
import type { PlannedAccount } from '@parley/gateway';
import type { Accounts, ChannelSettings } from '@parley/gateway/channel-service';
import { describeProblem } from '@parley/settings';
import { accountPath, editSettings } from '@parley/settings/edit';
import type { Store } from '@parley/store';
import { CliError, type DataFolder } from './data-folder.ts';
import { checkAs } from './settings.ts';

export interface ChannelSettingsDeps {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** All there are, those of plugins too. */
  readonly channels: readonly ChannelDefinition[];
}

/** Changes the access of accounts in the settings file, which a running Parley then takes over by itself (D12). */
export function channelSettings({
  folder,
  env,
  clock,
  channels,
}: ChannelSettingsDeps): ChannelSettings {
  const file = folder.settingsFile;
  return {
    async allowGroup(name, chatId, title) {
      const path = [...accountPath(file, name), 'access', 'allowGroups'];
      const comment = title === null ? {} : { comment: title };
      const edited = editSettings([{ kind: 'add', path, value: chatId, ...comment }], {
        file,
        check: checkAs({ folder, env, channels }),
        now: new Date(clock()),
      });
      if (edited.kind !== 'refused') return;
      const problems = edited.problems.map(describeProblem).join('\n');
      throw new CliError('settings-refused', `The group was not allowed:\n${problems}`);
    },
  };
}

/** The accounts of the settings where no gateway runs: they can be paused for its next start. */
export async function accountsHere(
  planned: readonly PlannedAccount[],
  { accountPauses }: Pick<Store, 'accountPauses'>,
  clock: Clock,
): Promise<Accounts> {
  let pauses = await accountPauses.list();
  const known = planned.map((one) =>
    one.kind === 'broken'
      ? { channel: one.channel, account: one.account, reason: one.reason }
      : { channel: one.plan.definition.id, account: one.plan.account, rules: one.plan.rules },
  );
  return {
    status: () =>
      known.map(({ channel, account, ...facts }) => {
        const pause = pauses.find((one) => one.channel === channel && one.account === account);
        if (pause !== undefined) {
          return { channel, account, state: { kind: 'paused', by: pause.by, since: pause.since } };
        }
        if ('reason' in facts) {
          const fix = 'Fix the settings of this channel.';
          return { channel, account, state: { kind: 'failed', reason: facts.reason, fix } };
        }
        return { channel, account, state: { kind: 'stopped' } };
      }),
    planOf: ({ channel, account }) => {
      const found = known.find((one) => one.channel === channel && one.account === account);
      return found && ('rules' in found ? { rules: found.rules } : {});
    },
    async pause(name, by) {
      await accountPauses.pause({ ...name, by, since: clock() });
      pauses = await accountPauses.list();
    },
    async resume({ channel, account }) {
      await accountPauses.resume(channel, account);
      pauses = await accountPauses.list();
    },
  };
}
