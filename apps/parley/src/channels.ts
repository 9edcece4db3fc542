import type { ChannelDefinition } from '@parley/channels';
import { type Clock, parseId } from '@parley/core';
import type { PlannedAccount } from '@parley/gateway';
import type { AccountRegistry, ChannelSettings } from '@parley/gateway/channel-operations';
import { describeProblem } from '@parley/settings';
import {
  editSettings,
  findAccountPath,
  readRawSettingsFile,
  type SettingsChange,
} from '@parley/settings/edit';
import type { Store } from '@parley/store';
import { z } from 'zod';
import { CliError, type DataFolder, UsageError } from './data-folder.ts';
import { addHostedChannels, checkSettings, createSettingsCheck } from './settings.ts';

export interface SettingsFileDeps {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  readonly channels: readonly ChannelDefinition[];
}

/**
 * Creates the service that changes the access rules of accounts in the settings file. A running
 * gateway reloads the changed settings file (D12).
 */
export function createChannelSettings(deps: SettingsFileDeps): ChannelSettings {
  return {
    async allowGroup(name, chatId, title) {
      const path = [...findAccountPath(deps.folder.settingsFile, name), 'access', 'allowGroups'];
      const id = toGroupId(deps, name.channel, chatId);
      const comment = title === null ? {} : { comment: title };
      const change = { kind: 'add', path, value: id, ...comment } as const;
      changeSettings(deps, [change], 'The group was not allowed');
    },
  };
}

/**
 * Converts the id of a group to the form used in messages. Throws UsageError for text that is not a
 * group id.
 */
function toGroupId(
  { folder, env, channels }: SettingsFileDeps,
  channel: string,
  written: string,
): string {
  const checked = checkSettings(folder, env, channels);
  const all = checked.kind === 'ok' ? addHostedChannels(channels, checked) : channels;
  const form = all.find(({ id }) => id === channel)?.ids?.group;
  if (form === undefined) return written;
  if (form === null) throw new CliError('not-a-group', `${channel} has no groups.`);
  const read = parseId(written, [form]);
  if (read.kind === 'id') return read.id;
  const meant = read.nearest === undefined ? '' : ` Did you mean ${read.nearest}?`;
  throw new UsageError(`${JSON.stringify(written)} is not ${read.expected}.${meant}`);
}

/**
 * Applies all changes to the settings file, or none of them. On failure, throws a CliError whose
 * message starts with `failed`, and leaves the file unchanged.
 */
export function changeSettings(
  { folder, env, clock, channels }: SettingsFileDeps,
  changes: readonly SettingsChange[],
  failed: string,
): void {
  const edited = editSettings(changes, {
    file: folder.settingsFile,
    check: createSettingsCheck({ folder, env, channels }),
    now: new Date(clock()),
  });
  if (edited.kind !== 'refused') return;
  const problems = edited.problems.map(describeProblem).join('\n');
  throw new CliError('settings-refused', `${failed}:\n${problems}`);
}

const WithAgents = z.object({ agents: z.record(z.string(), z.unknown()) });

/**
 * Returns an agent's sections as written in the file, and their path, which is the top level for
 * the default agent (F14).
 */
export function readAgentSections(
  { settingsFile }: Pick<DataFolder, 'settingsFile'>,
  agent: string | undefined,
): { readonly path: readonly string[]; readonly values: unknown } {
  const { values } = readRawSettingsFile(settingsFile);
  if (agent === undefined) return { path: [], values };
  const { agents } = WithAgents.safeParse(values).data ?? {};
  return { path: ['agents', agent], values: agents?.[agent] };
}

/**
 * Lists the configured accounts when no gateway is running. An account can be paused before the
 * gateway starts again.
 */
export async function listOfflineAccounts(
  planned: readonly PlannedAccount[],
  { accountPauses }: Pick<Store, 'accountPauses'>,
  clock: Clock,
): Promise<AccountRegistry> {
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
