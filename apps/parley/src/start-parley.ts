import { existsSync } from 'node:fs';
import type { ChannelDefinition } from '@parley/channels';
import type { Clock, PassPoint } from '@parley/contracts';
import { type AccountStatus, CHANNEL_DEFINITIONS, type RestoreWish } from '@parley/gateway';
import { writeSettingsTemplate } from '@parley/settings';
import type { ProcessRole } from '@parley/store';
import type { LogDestination } from '@parley/telemetry';
import { type BannerFacts, bannerFacts } from './banner.ts';
import { composeGateway } from './compose-gateway.ts';
import { composeWorker } from './compose-worker.ts';
import { containErrors } from './contain-errors.ts';
import {
  announceHere,
  createDataFolder,
  type DataFolder,
  hasUnfinishedWork,
  lockDataFolder,
} from './data-folder.ts';
import { firstStates } from './first-states.ts';
import { type OpenLog, openLog } from './open-log.ts';
import { openParts, type Parts } from './open-parts.ts';
import { type PluggedIn, plugIn } from './plug-in.ts';
import { checkRole, isShared } from './process-role.ts';
import { type LoadedSettings, readSettings } from './read-settings.ts';
import { reachableAddress } from './running-gateway.ts';
import { watchSettings } from './watch-settings.ts';

/** A running process of an installation: gateway, worker, or both. */
export interface RunningParley {
  readonly address: string;
  readonly token: string;
  /** Resolves once it is known which model answers. */
  banner(): Promise<BannerFacts>;
  /** Stops taking, finishes or hands back what runs, closes everything; within 10 s (D11). */
  close(): Promise<void>;
}

/** What starting needs from outside. */
export interface StartOptions {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  /** What this process does; everything when absent. */
  readonly role?: ProcessRole | undefined;
  /** Instead of `http.port` of the settings. */
  readonly port?: number | undefined;
  readonly clock: Clock;
  /** Where log lines go; standard error when absent. */
  readonly logTo?: LogDestination;
  /** Called at each durable point; only the crash checks do anything there. */
  readonly pass: PassPoint;
  /** Channels besides those that Parley brings. */
  readonly channels?: readonly ChannelDefinition[];
  /** Hears how each channel account is doing, whenever that changes. */
  readonly onState?: (status: AccountStatus) => void;
  /** Hears that a newer Parley has changed the database that is shared: the caller closes. */
  readonly onOutdated?: ((version: string) => void) | undefined;
  /** Hears that a backup is to be put back: the caller closes, restores and starts again. */
  readonly onRestore?: ((wish: RestoreWish) => void) | undefined;
}

/**
 * Starts everything, or one role of it. Throws errors whose message says what to do; CliError
 * `role-needs-servers` where a role has nowhere to meet the others.
 */
export async function startParley(options: StartOptions): Promise<RunningParley> {
  const { folder, env, role = 'all' } = options;
  // Whatever is written from here on, the side files of the database included, is its owner’s alone.
  process.umask(0o077);
  // What is opened is closed in the opposite order, also when a later step fails.
  await using opened = new AsyncDisposableStack();
  createDataFolder(folder);
  if (hasUnfinishedWork(folder)) await (await import('./backup/exchange.ts')).tidyUp(folder, env);
  const channels = [...CHANNEL_DEFINITIONS, ...(options.channels ?? [])];
  const first = readSettings(folder, env, channels);
  checkRole(role, first.settings);
  // Processes that share a database may share the folder as well; a database in it is for one alone.
  if (!isShared(first.settings)) {
    const lock = lockDataFolder(folder);
    opened.defer(() => lock.release());
  }
  if (!existsSync(folder.settingsFile)) writeSettingsTemplate(folder.settingsFile);
  const open = openLog(options, first);
  const containment = containErrors(open.log);
  opened.defer(() => containment.stop());
  const plugged = await plugIn(first, { ...options, channels, log: open.log, containment });
  const watch = { folder, env, channels: plugged.definitions, loaded: plugged.loaded };
  opened.defer(watchSettings({ ...watch, ...open }));
  const parley = await compose({ ...options, ...open, role }, plugged, opened);
  const everything = opened.move();
  return { ...parley, close: () => everything.disposeAsync() };
}

/** The roles of this process: gateway, then worker, then what tells others of it. */
async function compose(
  options: StartOptions & OpenLog & { readonly role: ProcessRole },
  plugged: PluggedIn,
  opened: AsyncDisposableStack,
): Promise<Omit<RunningParley, 'close'>> {
  const { folder, token, role } = options;
  const { settings } = plugged.loaded;
  const parts = await openParts(options, plugged, opened);
  const { shared, agent, model } = parts;
  const facts = isShared(settings) ? await fitIn(options, plugged.loaded, parts) : null;
  const gateway = role === 'worker' ? null : await composeGateway(options, plugged, parts, opened);
  if (role !== 'gateway') await composeWorker(plugged, parts, opened);
  // The first thing that ends; whatever was taken before is still worked on.
  if (gateway !== null) opened.defer(() => gateway.stopReceiving());
  const server = gateway ?? (await serveHealth(options, settings, parts, opened));
  const address = reachableAddress(server.address);
  if (gateway !== null) opened.defer(announceHere(folder, address));
  if (facts !== null) {
    const { announceProcess } = await import('./announce-process.ts');
    opened.defer(
      announceProcess(
        { ...shared, onOutdated: options.onOutdated },
        { id: parts.processId, role, address: server.address },
        { facts, workspace: settings.agent.workspace },
      ),
    );
  }
  return {
    address,
    token: token(),
    banner: async () => {
      const channels = gateway === null ? [] : await firstStates(gateway);
      const facts = { role, agent, channels, address, token: token(), folder };
      return bannerFacts({ ...facts, model: await model.known });
    },
  };
}

/** Before any work is taken. */
async function fitIn(options: StartOptions & OpenLog, loaded: LoadedSettings, { shared }: Parts) {
  const { checkStrangers } = await import('./strangers.ts');
  return checkStrangers({ ...shared, loaded, folder: options.folder });
}

/** A process with channels serves its health with them, and needs none of this. */
async function serveHealth(
  options: StartOptions & OpenLog,
  { http }: LoadedSettings['settings'],
  parts: Parts,
  opened: AsyncDisposableStack,
): Promise<{ readonly address: string }> {
  const { composeHealth } = await import('./compose-health.ts');
  return composeHealth(options, http, parts, opened);
}
