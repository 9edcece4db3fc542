import { randomBytes } from 'node:crypto';
import { existsSync, writeFileSync } from 'node:fs';
import type { Clock, NewId, PassPoint } from '@parley/contracts';
import {
  CHANNEL_DEFINITIONS,
  type Gateway,
  type PlannedAccount,
  startGateway,
} from '@parley/gateway';
import { type ChosenModel, createChatModel } from '@parley/models';
import { createLocalBus, openQueues } from '@parley/queue';
import { settingsTemplate } from '@parley/settings';
import { openStore } from '@parley/store';
import { createLogger, createMetrics } from '@parley/telemetry';
import { startWorker } from '@parley/worker';
import { openAgent } from './agent-place.ts';
import type { BannerFacts } from './banner.ts';
import {
  createDataFolder,
  type DataFolder,
  lockDataFolder,
  readOrMakeToken,
} from './data-folder.ts';
import { removeInstance, writeInstance } from './instance-file.ts';
import { type LoadedSettings, readSettings } from './read-settings.ts';
import { statusReport } from './status-report.ts';

/** A running installation: gateway and worker in one process. */
export interface RunningParley {
  readonly address: string;
  readonly token: string;
  banner(): Promise<BannerFacts>;
  /** Stops taking, finishes or hands back what runs, closes everything; within 10 s (D11). */
  close(): Promise<void>;
}

/** What starting needs from outside. */
export interface StartOptions {
  readonly folder: DataFolder;
  readonly env: NodeJS.ProcessEnv;
  readonly clock: Clock;
  /** Where log lines go. */
  readonly logTo: NodeJS.WriteStream;
  /** Called at each durable point; only the crash checks do anything there. */
  readonly pass: PassPoint;
}

/** Turns and sends that are under way at a shutdown get this long; the rest is handed back. */
const GRACE_MS = 7_000;

/** Starts everything on the embedded default. Throws CliError, StoreError or GatewayError with advice. */
export async function startParley(options: StartOptions): Promise<RunningParley> {
  const { folder } = options;
  createDataFolder(folder);
  const lock = lockDataFolder(folder);
  try {
    writeFirstSettings(folder);
    const loaded = readSettings(folder, options.env);
    return await compose(options, loaded, () => lock.release());
  } catch (error) {
    lock.release();
    throw error;
  }
}

async function compose(
  options: StartOptions,
  loaded: LoadedSettings,
  unlock: () => void,
): Promise<RunningParley> {
  const { folder, clock, pass } = options;
  const { settings } = loaded;
  const token = readOrMakeToken(folder);
  const secrets = [...loaded.secrets, token];
  const log = createLogger({ ...settings.log, secrets, destination: options.logTo });
  const metrics = createMetrics();
  const bus = createLocalBus(log);
  const newId: NewId = (prefix) => `${prefix}_${randomBytes(9).toString('base64url')}`;
  const [store, queues, agent] = await Promise.all([
    openStore({ url: settings.store.url ?? folder.storeUrl, clock }),
    openQueues({ url: settings.queue.url ?? folder.queueUrl, log, exclusive: true }),
    openAgent(settings),
  ]);
  await store.lanes.releaseAll();
  const chosen = createChatModel(settings.model, {
    settingsFile: folder.settingsFile,
    clock,
    logger: log,
    timeZone: settings.agent.timeZone,
    ...(options.env.OLLAMA_HOST === undefined ? {} : { ollamaHost: options.env.OLLAMA_HOST }),
  });
  const shared = { store, queues, bus, log, meter: metrics.meter, clock, pass };
  const owners = [...settings.owners, ...LOCAL_OWNERS];
  let modelLine = chosen.model.id;
  const describe = () => ({
    agentName: agent.place.name,
    model: modelLine,
    settingsFile: folder.settingsFile,
  });
  const gateway = await startGateway({
    ...shared,
    random: Math.random,
    situation: describe,
    accounts: planAccounts(loaded, owners),
    http: { ...settings.http, token },
    metrics: () => metrics.render(),
    report: () =>
      statusReport(
        { agent: agent.place.name, model: modelLine, dataFolder: folder.path },
        store,
        clock,
      ),
  });
  const worker = await startWorker({
    ...shared,
    newId,
    owner: newId('worker'),
    mode: settings.lanes.busy,
    collectPauseMs: settings.lanes.collectPauseMs,
    model: chosen.model,
    prompt: agent.prompt,
    workspace: agent.workspace,
    agent: agent.place,
    owners,
    history: { entries: 100, characters: 60_000 },
  });
  writeInstance(folder, { pid: process.pid, address: gateway.address });
  chosen.why.then((why) => {
    modelLine = why;
  });
  return {
    address: gateway.address,
    token,
    banner: () =>
      bannerFacts(folder, agent.place.name, settings.agent.emoji, chosen, gateway, token),
    async close() {
      await gateway.stopReceiving();
      await worker.close(GRACE_MS);
      await gateway.close(GRACE_MS);
      await queues.close();
      await store.close();
      removeInstance(folder);
      unlock();
    },
  };
}

/** Whoever holds the token of the web page or the terminal is the owner of this installation. */
const LOCAL_OWNERS = ['web:owner', 'terminal:owner'];

function writeFirstSettings(folder: DataFolder): void {
  if (existsSync(folder.settingsFile)) return;
  writeFileSync(folder.settingsFile, settingsTemplate(), { mode: 0o600 });
}

function planAccounts(loaded: LoadedSettings, owners: readonly string[]): PlannedAccount[] {
  const { limits } = loaded.settings;
  const plans: PlannedAccount[] = [];
  for (const checked of Object.values(loaded.channels)) {
    const { channel, account } = checked;
    const definition = CHANNEL_DEFINITIONS.find(({ id }) => id === channel);
    if (checked.kind === 'disabled' || !definition) continue;
    if (checked.kind === 'broken') {
      const paths = checked.problems
        .map(({ path, expected }) => `${path}: expected ${expected}`)
        .join('; ');
      plans.push({ kind: 'broken', channel, account, reason: paths });
      continue;
    }
    const { access, activation, settings } = checked;
    const rules = { policy: { access, activation }, owners, limits };
    plans.push({ kind: 'ready', plan: { definition, account, settings, rules } });
  }
  return plans;
}

async function bannerFacts(
  folder: DataFolder,
  name: string,
  emoji: string | undefined,
  chosen: ChosenModel,
  gateway: Gateway,
  token: string,
): Promise<BannerFacts> {
  const model = await chosen.why;
  return {
    agent: { name, emoji },
    model,
    offline: model.startsWith('offline'),
    channels: gateway.status(),
    chatAddress: `${gateway.address}/?token=${token}`,
    dataFolder: folder.path,
    settingsFile: folder.settingsFile,
  };
}
