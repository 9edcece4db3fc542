import { existsSync } from 'node:fs';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import { writeSettingsTemplate } from '@parley/settings';
import type { ProcessRole } from '@parley/store';
import { type BannerInfo, toReachableUrl, waitForFirstStates } from './banner.ts';
import { composeGateway, composeHealth } from './compose-gateway.ts';
import {
  announceGateway,
  createDataFolder,
  type DataFolder,
  hasUnfinishedUpgrade,
  hasUnfinishedWork,
  lockDataFolder,
} from './data-folder.ts';
import { containErrors, type LoadedPlugins, loadConfiguredPlugins } from './plug-in.ts';
import { type OpenLog, openLog, openProcessLog, type StartOptions } from './process-options.ts';
import { openProcessServices } from './process-services.ts';
import { ReloadableRuntime } from './reloadable-runtime.ts';
import { checkRole, isSharedStore, readSettings } from './settings.ts';
import { logWarnings, SettingsWatch } from './settings-watch.ts';

export interface RunningParley {
  readonly address: string;
  readonly token: string;
  /** Resolves when it is known which model answers. */
  banner(): Promise<BannerInfo>;
  /**
   * Stops accepting work, finishes or releases running work, and closes all resources within 10 s
   * (D11).
   */
  close(): Promise<void>;
}

/**
 * Starts a gateway and a worker, or only one of these roles. Its errors include advice in their
 * messages.
 */
export async function startParley(options: StartOptions): Promise<RunningParley> {
  const { folder, env, role = 'all' } = options;
  // All resources are closed in reverse order of opening, even if a later step fails.
  await using opened = new AsyncDisposableStack();
  createDataFolder(folder);
  if (hasUnfinishedWork(folder)) await cleanUpAfterKill(folder);
  const channels = [...CHANNEL_DEFINITIONS, ...(options.channels ?? [])];
  const first = readSettings(folder, env, channels);
  checkRole(role, first.settings);
  // Processes that share a database may also share the data folder, but a database inside the
  // folder is used by only one process.
  if (!isSharedStore(first.settings)) {
    const lock = lockDataFolder(folder);
    opened.defer(() => lock.release());
    if (hasUnfinishedUpgrade(folder)) await completeUpgrade(folder, options.clock);
  }
  if (!existsSync(folder.settingsFile)) writeSettingsTemplate(folder.settingsFile);
  const kept = openProcessLog(options, first);
  opened.defer(() => kept?.close());
  const open = openLog(options, first, kept);
  const containment = containErrors(open.log);
  opened.defer(() => containment.stop());
  const plugins = await loadConfiguredPlugins(first, {
    ...options,
    channels,
    log: open.log,
    containment,
  });
  logWarnings(open.log, plugins.loaded);
  const watch = new SettingsWatch({
    ...options,
    ...open,
    ...plugins,
    channels: plugins.definitions,
  });
  const parley = await composeProcess({ ...options, ...open, role }, { plugins, watch }, opened);
  const everything = opened.move();
  return { ...parley, close: () => everything.disposeAsync() };
}

/**
 * Removes the leftovers of a killed backup or restore. Throws BackupError if a restore was
 * interrupted halfway.
 */
async function cleanUpAfterKill(folder: DataFolder): Promise<void> {
  const { assertNoInterruptedRestore } = await import('./commands/backup/put-in-place.ts');
  const { removeAbandonedFolders } = await import('./commands/backup/work-folder.ts');
  assertNoInterruptedRestore(folder);
  removeAbandonedFolders(folder.path);
}

/** Converts the data of a newer version, if an upgrade returns to this one. */
async function completeUpgrade(folder: DataFolder, clock: StartOptions['clock']): Promise<void> {
  const { completeReturn } = await import('./commands/upgrade/upgrade.ts');
  await completeReturn(folder, clock);
}

async function composeProcess(
  options: StartOptions & OpenLog & { readonly role: ProcessRole },
  { plugins, watch }: { readonly plugins: LoadedPlugins; readonly watch: SettingsWatch },
  opened: AsyncDisposableStack,
): Promise<Omit<RunningParley, 'close'>> {
  const { folder, token, role } = options;
  const { settings } = plugins.loaded;
  const services = await openProcessServices(options, settings, opened);
  const { shared } = services;
  const runtime = await ReloadableRuntime.open(options, plugins, services);
  opened.defer(() => runtime.close());
  // This process is compared with its deployment before it accepts any work.
  const deployment = isSharedStore(settings) ? await import('./deployment.ts') : null;
  const facts = await deployment?.checkDeployment(shared, plugins.loaded, folder);
  services.watchdog.use(settings.limits.hangSeconds);
  const gateway =
    role === 'worker' ? null : await composeGateway(options, plugins, { runtime, watch }, opened);
  if (role !== 'gateway') {
    opened.defer(() => runtime.stopWorkers());
    await runtime.startWorker();
  }
  // Receiving stops first; messages accepted before that are still processed.
  if (gateway !== null) opened.defer(() => gateway.stopReceiving());
  const server = gateway ?? (await composeHealth(options, settings.http, services, opened));
  const address = toReachableUrl(server.address);
  if (gateway !== null) opened.defer(announceGateway(folder, address));
  if (deployment !== null && facts !== undefined) {
    const { onOutdated } = options;
    const own = { id: services.processId, role, address: server.address };
    const settingsNow = () => deployment.hashSections(runtime.current.loaded, folder);
    const known = { facts, workspace: settings.agent.workspace, settingsNow };
    opened.defer(deployment.announceProcess({ ...shared, onOutdated }, own, known));
  }
  watch.start(async (loaded) => {
    await runtime.replace(loaded);
    services.watchdog.use(loaded.settings.limits.hangSeconds);
    await gateway?.reload();
  });
  opened.defer(() => watch.stop());
  return {
    address,
    token: token(),
    banner: async () => {
      const { agent, model } = runtime.current.main;
      const channels = gateway === null ? [] : await waitForFirstStates(gateway);
      const known = await model.known;
      return { role, agent, channels, address, token: token(), folder, model: known };
    },
  };
}
