import { existsSync } from 'node:fs';
import type { ChannelDefinition } from '@parley/channels';
import type { Clock, PassPoint } from '@parley/contracts';
import { type AccountStatus, CHANNEL_DEFINITIONS, startGateway } from '@parley/gateway';
import { writeSettingsTemplate } from '@parley/settings';
import type { LogDestination } from '@parley/telemetry';
import { startWorker } from '@parley/worker';
import { type BannerFacts, bannerFacts } from './banner.ts';
import { containPlugins } from './contain-plugins.ts';
import { createDataFolder, type DataFolder, lockDataFolder } from './data-folder.ts';
import { firstStates } from './first-states.ts';
import { gatewayOptions } from './gateway-options.ts';
import { removeInstance, writeInstance } from './instance-file.ts';
import { newId } from './new-id.ts';
import { type OpenLog, openLog } from './open-log.ts';
import { openParts } from './open-parts.ts';
import { type PluggedIn, plugIn } from './plug-in.ts';
import { reachableAddress } from './reachable-address.ts';
import { readSettings } from './read-settings.ts';
import { startBoot } from './start-boot.ts';
import { startSoul } from './start-soul.ts';
import { workerOptions } from './worker-options.ts';

/** A running installation: gateway and worker in one process. */
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
  readonly clock: Clock;
  /** Where log lines go; standard error when absent. */
  readonly logTo?: LogDestination;
  /** Called at each durable point; only the crash checks do anything there. */
  readonly pass: PassPoint;
  /** Channels besides those that Parley brings. */
  readonly channels?: readonly ChannelDefinition[];
  /** Hears how each channel account is doing, whenever that changes. */
  readonly onState?: (status: AccountStatus) => void;
}

/** Turns that are under way at a shutdown get this long, then they are handed back. In ms. */
const TURN_GRACE_MS = 4_000;
/** Sends that are under way after that get this long. In ms. */
const SEND_GRACE_MS = 3_000;

/** Starts everything on the embedded default. Throws errors whose message says what to do. */
export async function startParley(options: StartOptions): Promise<RunningParley> {
  const { folder } = options;
  // Whatever is written from here on, the side files of the database included, is its owner’s alone.
  process.umask(0o077);
  // What is opened is closed in the opposite order, also when a later step fails.
  await using opened = new AsyncDisposableStack();
  createDataFolder(folder);
  const lock = lockDataFolder(folder);
  opened.defer(() => lock.release());
  if (!existsSync(folder.settingsFile)) writeSettingsTemplate(folder.settingsFile);
  const channels = [...CHANNEL_DEFINITIONS, ...(options.channels ?? [])];
  const first = readSettings(folder, options.env, channels);
  const open = openLog(options, first);
  const containment = containPlugins(open.log);
  opened.defer(() => containment.stop());
  const plugged = await plugIn(first, { ...options, channels, log: open.log, containment });
  const parley = await compose({ ...options, ...open }, plugged, opened);
  const everything = opened.move();
  return { ...parley, close: () => everything.disposeAsync() };
}

/** The two roles in one process: gateway, then worker, then what runs once. */
async function compose(
  options: StartOptions & OpenLog,
  plugged: PluggedIn,
  opened: AsyncDisposableStack,
): Promise<Omit<RunningParley, 'close'>> {
  const { folder, token } = options;
  const parts = await openParts(options, plugged, opened);
  const { shared, agent, accounts, owners, model } = parts;
  const gateway = await startGateway(gatewayOptions(options, plugged, parts));
  opened.defer(() => gateway.close(SEND_GRACE_MS));
  const worker = await startWorker(workerOptions(plugged.loaded, parts));
  opened.defer(() => worker.close(TURN_GRACE_MS));
  opened.defer(() => gateway.stopReceiving());
  opened.defer(startSoul(parts));
  opened.defer(startBoot({ ...shared, ...agent, accounts, owners, newId }));
  const address = reachableAddress(gateway.address);
  writeInstance(folder, { pid: process.pid, address });
  opened.defer(() => removeInstance(folder));
  return {
    address,
    token,
    banner: async () => {
      const channels = await firstStates(gateway);
      return bannerFacts({ agent, model: await model.known, channels, address, token, folder });
    },
  };
}
