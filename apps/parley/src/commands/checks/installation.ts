import type { ChannelDefinition } from '@parley/channels';
import type { ClockSkew } from '@parley/channels/probe';
import { type Runtime, reasonOf } from '@parley/core';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import type { GatewayStatus, PluginLine } from '@parley/gateway/api';
import type { SettingsResult } from '@parley/settings';
import { type DatabaseState, readDatabaseState } from '@parley/store/schema-state';
import type { CliContext } from '../../cli.ts';
import { type DataFolder, findInstance, type GatewayInstance } from '../../data-folder.ts';
import { askGateway, type FoundGateway, findGateway } from '../../running-gateway.ts';
import { addHostedChannels, type LoadedSettings } from '../../settings.ts';
import { checkWithPlugins } from '../config.ts';

/** The installation to check, with its clocks. */
export interface ExaminedBase extends Pick<Runtime, 'clock' | 'monotonic'> {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
}

/** The installation as `parley doctor` sees it from outside the gateway process. */
export interface Installation extends ExaminedBase {
  readonly checked: SettingsResult | { readonly kind: 'unreadable'; readonly error: unknown };
  /**
   * The loaded settings; null if they are invalid. If it is null, checks that need settings are
   * skipped.
   */
  readonly loaded: LoadedSettings | null;
  readonly pluginReport: readonly PluginLine[];
  readonly definitions: readonly ChannelDefinition[];
  readonly database: DatabaseInspection;
  readonly gateway: GatewayInspection;
  /** The times reported by servers; network checks add their readings here. */
  readonly clocks: ClockSkew[];
}

export type DatabaseInspection =
  | { readonly kind: 'seen'; readonly state: DatabaseState }
  | { readonly kind: 'failed'; readonly error: unknown };

export type GatewayInspection =
  | { readonly kind: 'none' }
  | { readonly kind: 'runs'; readonly at: FoundGateway; readonly status: GatewayStatus }
  /** The gateway process is alive but does not respond. */
  | { readonly kind: 'silent'; readonly at: GatewayInstance; readonly reason: string };

/**
 * Inspects an installation without changing it. The caller must call `end` after all checks. `read`
 * reads the settings.
 */
export async function inspectInstallation(
  { folder, env }: Pick<CliContext, 'folder' | 'env'>,
  { clock, monotonic }: Pick<Runtime, 'clock' | 'monotonic'>,
  read: (place: Pick<CliContext, 'folder' | 'env'>) => Promise<CheckedSettings> = readAllSettings,
): Promise<{ readonly installation: Installation; readonly end: () => void }> {
  const { result, report, definitions, loaded, end } = await read({ folder, env });
  const database = await inspectDatabase(folder, loaded);
  const gateway = await inspectGateway(folder, env, database);
  const installation: Installation = {
    ...{ folder, env, clock, monotonic },
    checked: result,
    loaded,
    pluginReport: report,
    definitions: addHostedChannels(definitions ?? CHANNEL_DEFINITIONS, loaded ?? { hosted: {} }),
    database,
    gateway,
    clocks: [],
  };
  return { installation, end };
}

type CheckedSettings = Omit<Awaited<ReturnType<typeof checkWithPlugins>>, 'result'> & {
  readonly result: Installation['checked'];
};

async function readAllSettings(
  place: Pick<CliContext, 'folder' | 'env'>,
): Promise<CheckedSettings> {
  try {
    return await checkWithPlugins(place);
  } catch (error) {
    const nothing = { loaded: null, report: [], definitions: null, end: () => {} };
    return { result: { kind: 'unreadable', error }, ...nothing };
  }
}

async function inspectDatabase(
  folder: DataFolder,
  loaded: LoadedSettings | null,
): Promise<DatabaseInspection> {
  const { url, ...limits } = loaded?.settings.store ?? {};
  try {
    const state = await readDatabaseState({ ...limits, url: url ?? folder.storeUrl });
    return { kind: 'seen', state };
  } catch (error) {
    return { kind: 'failed', error };
  }
}

/**
 * Looks for gateways on other machines in the database, but only if opening the database does not
 * change it.
 */
async function inspectGateway(
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  database: DatabaseInspection,
): Promise<GatewayInspection> {
  const here = findInstance(folder);
  const isCurrent = database.kind === 'seen' && database.state.kind === 'current';
  if (here === null && !isCurrent) return { kind: 'none' };
  let at: FoundGateway | null = null;
  try {
    at = await findGateway(folder, env);
    if (at === null) return { kind: 'none' };
    return { kind: 'runs', at, status: await askGateway<GatewayStatus>(at, '/api/status/report') };
  } catch (error) {
    const silent = at ?? here;
    if (silent === null) return { kind: 'none' };
    return { kind: 'silent', at: silent, reason: reasonOf(error) };
  }
}
