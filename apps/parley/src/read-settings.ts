import type { ChannelDefinition } from '@parley/channels';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { ModelSettings } from '@parley/models';
import { describeProblem, loadSettings, type SettingsResult } from '@parley/settings';
import type { RetentionAges } from '@parley/store';
import { CliError, commandLine, type DataFolder } from './data-folder.ts';

/** Settings that passed every check but those of single channels. */
export type LoadedSettings = Extract<SettingsResult<ModelSettings>, { kind: 'ok' }>;

/** Channels that need no settings and are always there. */
const ALWAYS = ['web', 'terminal'];

/** Reads and checks the settings with every channel's and the models' own schema (D12). */
export function checkSettings(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  channels: readonly ChannelDefinition[] = CHANNEL_DEFINITIONS,
): SettingsResult<ModelSettings> {
  return loadSettings({
    file: folder.settingsFile,
    env,
    dataFolder: folder.path,
    modelSchema: ModelSettings,
    channelSchemas: Object.fromEntries(channels.map(({ id, settings }) => [id, settings])),
    defaultChannels: ALWAYS,
  });
}

/** As `checkSettings`, for those who cannot go on without: throws CliError that lists every problem. */
export function readSettings(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  channels: readonly ChannelDefinition[] = CHANNEL_DEFINITIONS,
): LoadedSettings {
  const result = checkSettings(folder, env, channels);
  if (result.kind === 'ok') return result;
  const problems = result.problems.map(describeProblem).join('\n\n');
  throw new CliError(
    'settings-invalid',
    `The settings in ${folder.settingsFile} have ${countOf(result.problems.length, 'problem')}:\n\n${problems}\n\nMend the file and start again; "${commandLine('config check', folder)}" checks it without starting.`,
  );
}

const DAY_MS = 24 * 60 * 60_000;

/** How old rows may become. */
export function retentionAges({
  retention,
  inspector,
}: Pick<LoadedSettings['settings'], 'retention' | 'inspector'>): RetentionAges {
  const ms = (days: number | 'forever') =>
    days === 'forever' ? Number.POSITIVE_INFINITY : days * DAY_MS;
  return {
    messages: ms(retention.messageDays),
    history: ms(retention.historyDays),
    decisions: ms(retention.decisionDays),
    prompts: ms(inspector.keepDays),
    spend: ms(retention.spendDays),
  };
}

/** `1 problem`, `2 problems`. */
export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
