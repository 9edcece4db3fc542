import { existsSync, readFileSync } from 'node:fs';
import { createChatSdkChannel, findHostedChannels } from '@parley/channel-chat-sdk';
import type { ChannelDefinition } from '@parley/channels';
import { pluralize } from '@parley/core';
import { openSecrets, type Scrub } from '@parley/core/telemetry/scrubber';
import { CHANNEL_DEFINITIONS } from '@parley/gateway/channel-definitions';
import { listModelChoices, ModelSettings } from '@parley/models';
import {
  describeProblem,
  findNearestWord,
  loadSettings,
  type ProfileChoice,
  type SettingsResult,
} from '@parley/settings';
import type { ProcessRole, RetentionAges } from '@parley/store';
import { CliError, type DataFolder, formatCommandLine } from './data-folder.ts';

/** Settings that passed every check except those of the individual channels. */
export type LoadedSettings = Extract<SettingsResult<ModelSettings>, { kind: 'ok' }>;

/** Channels that are available without settings. */
const ALWAYS = ['web', 'terminal'];

/** Reads and checks the settings with the schemas of every channel and of the models (D12). */
export function checkSettings(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  channels: readonly ChannelDefinition[] = CHANNEL_DEFINITIONS,
  missingSecret?: (file: string) => string | undefined,
  profile?: ProfileChoice,
): SettingsResult<ModelSettings> {
  return loadSettings({
    profile,
    file: folder.settingsFile,
    env,
    missingSecret,
    dataFolder: folder.path,
    modelSchema: ModelSettings,
    modelChoices: listModelChoices,
    channelSchemas: Object.fromEntries(channels.map(({ id, settings }) => [id, settings])),
    channelIds: Object.fromEntries(channels.map(({ id, ids }) => [id, ids])),
    findHosted: (sections, own) =>
      findHostedChannels(sections, own, { env, nearestWord: findNearestWord }),
    defaultChannels: ALWAYS,
  });
}

/** Adds the channels that exist because of `use` in the settings to those that always exist. */
export function addHostedChannels(
  channels: readonly ChannelDefinition[],
  { hosted }: { readonly hosted: Readonly<Record<string, string>> },
): readonly ChannelDefinition[] {
  const added = Object.entries(hosted).map(([id, use]) => createChatSdkChannel(id, use));
  return added.length === 0 ? channels : [...channels, ...added];
}

/** Checks any file as if it were the settings file of this installation, for `editSettings`. */
export function createSettingsCheck({ folder, env, channels }: CheckedInstallation) {
  return (settingsFile: string) => checkSettings({ ...folder, settingsFile }, env, channels);
}

interface CheckedInstallation {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  /** All channels, including those from plugins. */
  readonly channels: readonly ChannelDefinition[];
}

/**
 * Like `checkSettings`, but throws a CliError that lists every problem, for callers that need valid
 * settings.
 */
export function readSettings(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  channels: readonly ChannelDefinition[] = CHANNEL_DEFINITIONS,
  missingSecret?: (file: string) => string | undefined,
  profile?: ProfileChoice,
): LoadedSettings {
  const result = checkSettings(folder, env, channels, missingSecret, profile);
  if (result.kind === 'ok') return result;
  const problems = result.problems.map(describeProblem).join('\n\n');
  throw new CliError(
    'settings-invalid',
    `The settings in ${folder.settingsFile} have ${pluralize(result.problems.length, 'problem')}:\n\n${problems}\n\nFix the file and start again. "${formatCommandLine('config check', folder)}" checks it without starting.`,
  );
}

/**
 * An agent defined in the settings. `name` is the agent's name in conversation ids; undefined for
 * the default agent (F14).
 */
export interface ChosenAgent {
  readonly name: string | undefined;
  readonly settings: LoadedSettings['settings'];
}

/** Lists all agents, starting with the default agent. */
export function listAgents({
  settings,
  agents,
}: Pick<LoadedSettings, 'settings' | 'agents'>): readonly ChosenAgent[] {
  return [
    { name: undefined, settings },
    ...[...agents].map(([name, own]) => ({ name, settings: own })),
  ];
}

/**
 * Finds the agent that the user has named, or the default agent if no name was given. Throws
 * CliError `no-agent` for an unknown name.
 */
export function findChosenAgent(
  loaded: Pick<LoadedSettings, 'settings' | 'agents'>,
  asked: string | undefined,
): ChosenAgent {
  const { settings, agents } = loaded;
  const { id } = settings.agent;
  if (asked === undefined || asked === id) return { name: undefined, settings };
  const own = agents.get(asked);
  if (own !== undefined) return { name: asked, settings: own };
  const names = [id, ...agents.keys()];
  const meant = findNearestWord(asked, names);
  throw new CliError(
    'no-agent',
    `The settings do not define an agent ${JSON.stringify(asked)}.${meant === undefined ? '' : ` Did you mean ${meant}?`} The agents are ${names.join(', ')}.`,
  );
}

const DAY_MS = 24 * 60 * 60_000;

export function toRetentionAges({
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

type RoleSettings = LoadedSettings['settings'];
/** The settings that determine the servers of an installation. */
interface ServerSettings {
  readonly store: Pick<RoleSettings['store'], 'url'>;
  readonly queue: Pick<RoleSettings['queue'], 'url'>;
}

/**
 * Returns whether other processes may use the same database, in which case exclusive work needs a
 * lease.
 */
export function isSharedStore({ store }: Pick<ServerSettings, 'store'>): boolean {
  return store.url !== undefined;
}

/**
 * Throws CliError `role-needs-servers` if the settings lack the servers through which a process in
 * this role communicates with other processes.
 */
export function checkRole(role: ProcessRole, { store, queue }: ServerSettings): void {
  if (role === 'all') return;
  const missing = [
    ...(store.url === undefined ? ['store.url (PostgreSQL)'] : []),
    ...(queue.url === undefined ? ['queue.url (Redis)'] : []),
  ];
  if (missing.length === 0) return;
  throw new CliError(
    'role-needs-servers',
    `"parley ${role}" works with other processes through PostgreSQL and Redis. ` +
      `Set ${missing.join(' and ')} in the settings, or run everything in one process with "parley start".`,
  );
}

/** Creates the scrubber that removes an installation's secrets from a command's output (G18). */
export function createSecretScrubber(folder: DataFolder, env: NodeJS.ProcessEnv): Scrub {
  const token = existsSync(folder.tokenFile) ? [readFileSync(folder.tokenFile, 'utf8').trim()] : [];
  let secrets: readonly string[] = [];
  try {
    ({ secrets } = checkSettings(folder, env));
  } catch {
    // If the settings file cannot be read, the command itself reports the error.
  }
  return openSecrets([...token, ...secrets]).scrub;
}
