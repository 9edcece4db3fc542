import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import type { Clock, Logger, NewId, PassPoint } from '@parley/contracts';
import { type Gateway, startGateway } from '@parley/gateway';
import { type ChosenModel, createChatModel } from '@parley/models';
import { createLocalBus, openQueues } from '@parley/queue';
import { writeSettingsTemplate } from '@parley/settings';
import { openStore, type Store } from '@parley/store';
import { createLogger, createMetrics, type LogDestination } from '@parley/telemetry';
import { startWorker } from '@parley/worker';
import type { BannerFacts } from './banner.ts';
import {
  createDataFolder,
  type DataFolder,
  lockDataFolder,
  readOrMakeToken,
} from './data-folder.ts';
import { removeInstance, writeInstance } from './instance-file.ts';
import { type OpenAgent, openAgent } from './open-agent.ts';
import { planAccounts } from './plan-accounts.ts';
import { type LoadedSettings, readSettings } from './read-settings.ts';
import { statusReport } from './status-report.ts';

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
}

/** Turns and sends that are under way at a shutdown get this long; the rest is handed back. */
const GRACE_MS = 4_000;

/** Whoever holds the token of the web page or the terminal is the owner of this installation. */
const LOCAL_OWNERS = ['web:owner', 'terminal:owner'];

/** What the model sees of a conversation's past; characters are about four to a token. */
const HISTORY = { entries: 100, characters: 60_000 };

/** Starts everything on the embedded default. Throws errors whose message says what to do. */
export async function startParley(options: StartOptions): Promise<RunningParley> {
  const { folder } = options;
  createDataFolder(folder);
  const lock = lockDataFolder(folder);
  try {
    if (!existsSync(folder.settingsFile)) writeSettingsTemplate(folder.settingsFile);
    return await compose(options, readSettings(folder, options.env), lock.release);
  } catch (error) {
    lock.release();
    throw error;
  }
}

/** The parts that everything else is built on. */
async function openParts(options: StartOptions, loaded: LoadedSettings) {
  const { folder, clock, env } = options;
  const { settings } = loaded;
  const token = readOrMakeToken(folder);
  const destination = options.logTo === undefined ? {} : { destination: options.logTo };
  const log = createLogger({
    ...settings.log,
    secrets: [...loaded.secrets, token],
    ...destination,
  });
  const [store, queues, agent] = await Promise.all([
    openStore({ url: settings.store.url ?? folder.storeUrl, clock }),
    openQueues({ url: settings.queue.url ?? folder.queueUrl, log, exclusive: true }),
    openAgent(settings, log),
  ]);
  await store.lanes.releaseAll();
  return { token, log, store, queues, agent, model: chooseModel(loaded, folder, env, log, clock) };
}

async function compose(
  options: StartOptions,
  loaded: LoadedSettings,
  unlock: () => void,
): Promise<RunningParley> {
  const { folder, clock, pass } = options;
  const { settings } = loaded;
  const { token, log, store, queues, agent, model } = await openParts(options, loaded);
  const metrics = createMetrics({
    onMistake: (mistake) => log.error({ mistake }, 'metric not counted'),
  });
  const shared = {
    store,
    queues,
    bus: createLocalBus(log),
    log,
    meter: metrics.meter,
    clock,
    pass,
  };
  const owners = [...settings.owners, ...LOCAL_OWNERS];
  const facts = situation(agent, model, folder);
  const gateway = await startGateway({
    ...shared,
    random: Math.random,
    situation: () => ({
      agentName: agent.name,
      model: facts().model,
    }),
    accounts: planAccounts(loaded, owners),
    http: { ...settings.http, token },
    metrics: async () => metrics.render(),
    report: () => statusReport(facts(), store, clock),
  });
  const worker = await startWorker({
    ...shared,
    newId,
    owner: newId('worker'),
    mode: settings.lanes.busy,
    collectPauseMs: settings.lanes.collectPauseMs,
    model: model.model,
    prompt: agent.prompt,
    workspace: agent.workspace,
    agent: agent.place,
    owners,
    history: HISTORY,
  });
  writeInstance(folder, { pid: process.pid, address: gateway.address });
  return {
    address: gateway.address,
    token,
    banner: () => bannerFacts(loaded, folder, agent, model, gateway, token),
    async close() {
      await gateway.stopReceiving();
      await worker.close(GRACE_MS);
      await gateway.close(GRACE_MS);
      await queues.close();
      await closeStore(store, log);
      removeInstance(folder);
      unlock();
    },
  };
}

const newId: NewId = (prefix) => `${prefix}_${randomBytes(9).toString('base64url')}`;

function chooseModel(
  loaded: LoadedSettings,
  folder: DataFolder,
  env: NodeJS.ProcessEnv,
  logger: Logger,
  clock: Clock,
): ChosenModel {
  const { model, agent } = loaded.settings;
  return createChatModel(model, {
    settingsFile: folder.settingsFile,
    clock,
    logger,
    timeZone: agent.timeZone,
    ...(env.OLLAMA_HOST === undefined ? {} : { ollamaHost: env.OLLAMA_HOST }),
  });
}

/** What commands and `parley status` say; the model's line grows once the choice is known. */
function situation(agent: OpenAgent, chosen: ChosenModel, folder: DataFolder) {
  let model = chosen.model.id;
  chosen.why.then((why) => {
    model = why;
  });
  return () => ({ agent: agent.name, model, dataFolder: folder.path });
}

async function closeStore(store: Store, log: Logger): Promise<void> {
  try {
    await store.close();
  } catch (error) {
    // Everything is committed by now; only the tidying of the log file is left for the next start.
    log.warn({ error }, 'the database did not close cleanly');
  }
}

async function bannerFacts(
  loaded: LoadedSettings,
  folder: DataFolder,
  { name }: OpenAgent,
  chosen: ChosenModel,
  gateway: Gateway,
  token: string,
): Promise<BannerFacts> {
  const model = await chosen.why;
  return {
    agent: { name, emoji: loaded.settings.agent.emoji },
    model,
    offline: model.startsWith('offline'),
    channels: gateway.status(),
    chatAddress: `${gateway.address}/?token=${token}`,
    dataFolder: folder.path,
    settingsFile: folder.settingsFile,
  };
}
