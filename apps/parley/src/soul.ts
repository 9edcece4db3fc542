import {
  createLocalTime,
  createSoulCommand,
  createSpendGuard,
  type OpenScenarioServices,
  type ScenarioServices,
  SoulService,
} from '@parley/agent';
import type { OperatorSoul } from '@parley/agent/soul';
import {
  type Clock,
  type Logger,
  type Meter,
  type Monotonic,
  newId,
  silentLogger,
  systemTime,
} from '@parley/core';
import { getConfigPath } from '@parley/core/installation';
import { type ChatModel, createChatModel, OFFLINE_MODEL } from '@parley/models';
import type { Store } from '@parley/store';
import { openSoulFile, readSoulScenarios, type WorkspaceLock } from '@parley/workspace';
import type { DataFolder } from './data-folder.ts';
import type { ChosenAgent, LoadedSettings } from './settings.ts';
import { openWorkspaceForCommand } from './shared-lock.ts';

const SCENARIOS = getConfigPath('soul-scenarios');

interface OpenSoulDeps {
  readonly folder: Pick<DataFolder, 'settingsFile'>;
  readonly store: Pick<Store, 'souls' | 'spend'>;
  /** The lock on the workspace, if several processes share it. */
  readonly lock?: WorkspaceLock | undefined;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Logger;
  /**
   * The models that evaluate proposals. If absent, only the running gateway evaluates proposals.
   */
  readonly models?: { readonly model: () => ChatModel; readonly meter: Meter } | undefined;
  /**
   * For agents other than the default one, the agent's name and the spending caps that apply across
   * all agents (F14).
   */
  readonly named?: { readonly name: string; readonly ofAll: SpendSettings } | undefined;
}

type SpendSettings = LoadedSettings['settings']['spend'];

/** Opens the agent's SOUL.md and the service that makes all changes to it (W06). */
export function openSoul(
  settings: LoadedSettings['settings'],
  { folder, store, lock, clock, monotonic, log, models, named }: OpenSoulDeps,
) {
  const { agent, soul } = settings;
  const { souls } = store;
  const file = openSoulFile(agent.workspace, newId, lock);
  const trial = createScenarioServicesOpener(settings, {
    folder,
    store,
    clock,
    monotonic,
    log,
    models,
    named,
  });
  const service = new SoulService({
    agent: agent.id,
    souls,
    file,
    settings: soul,
    clock,
    monotonic,
    log,
    ...(trial !== undefined && { trial }),
  });
  const localTime = createLocalTime(agent.timeZone);
  return {
    service,
    command: createSoulCommand(service, localTime),
    /** The agent's tool for making proposals; absent if proposals have no effect. */
    tool: soul.apply === 'never' ? {} : { soul: { service, localTime } },
  };
}

/**
 * Creates the evaluation of proposals by a judge model: the judge named in the settings, or by
 * default the configured model. Undefined if no model is configured, so that only the rules decide.
 */
function createScenarioServicesOpener(
  settings: LoadedSettings['settings'],
  { folder, store, clock, monotonic, log, models, named }: Omit<OpenSoulDeps, 'lock'>,
): OpenScenarioServices | undefined {
  const { model: chosen, soul } = settings;
  const isWanted = soul.judge === 'auto' ? typeof chosen.model !== 'string' : soul.judge !== false;
  if (!isWanted || chosen.model === 'offline') return undefined;
  const known = new Map<string, string | null>();
  return async () => {
    if (models === undefined) throw new Error('only the running gateway calls models');
    const model = models.model();
    if (model.id === OFFLINE_MODEL) return null;
    const judge = chooseJudge(settings, model, { folder, clock, monotonic, log });
    const scenarios = await readSoulScenarios(SCENARIOS);
    const spending = createSpendingRecorder(settings, { store, clock, log, named });
    return { model, judge, scenarios, known, ...spending, clock, monotonic, meter: models.meter };
  };
}

/**
 * Records the spending of model calls outside turns. Spending outside turns counts toward the daily
 * total and is limited by the daily cap.
 */
export function createSpendingRecorder(
  { agent, spend }: LoadedSettings['settings'],
  {
    store,
    clock,
    log,
    named,
    purpose = 'soul',
  }: Pick<OpenSoulDeps, 'clock' | 'log' | 'named'> & {
    readonly store: Pick<Store, 'spend'>;
    /** The purpose to log if the spending is refused. */
    readonly purpose?: string;
  },
): Pick<ScenarioServices, 'mayAsk' | 'spent'> {
  const capsOf = ({ totalDaily, capOwners }: SpendSettings) => ({ totalDaily, capOwners });
  const name = named?.name;
  const place = { name, timeZone: agent.timeZone };
  const own = named && capsOf(spend);
  const guard = createSpendGuard({ store, log }, capsOf(named?.ofAll ?? spend), place, own);
  const localTime = createLocalTime(agent.timeZone);
  const day = () => localTime(clock()).date;
  const account = () => ({ day: day(), personId: '', groupId: null, agent: name });
  const reader = { kind: 'owner', conversationId: purpose } as const;
  return {
    mayAsk: () => guard({ account: account(), used: null, byOwner: true, reader }),
    spent: (usage) => store.spend.add(account(), usage),
  };
}

/**
 * Returns the judge model named in the settings, or with `true` the model that answers messages.
 */
function chooseJudge(
  { model: chosen, soul }: LoadedSettings['settings'],
  model: ChatModel,
  { folder, log, ...time }: Pick<OpenSoulDeps, 'folder' | 'clock' | 'monotonic' | 'log'>,
): ChatModel {
  if (typeof soul.judge !== 'string' || soul.judge === 'auto') return model;
  if (typeof chosen.model === 'string') {
    log.warn(
      { judge: soul.judge },
      'soul.judge names a model, but the settings do not name a provider: the model that answers messages is used as the judge',
    );
    return model;
  }
  const settings = { ...chosen, model: { ...chosen.model, model: soul.judge }, fallback: [] };
  return createChatModel(settings, { ...time, settingsFile: folder.settingsFile, logger: log })
    .model;
}

/** Provides access to SOUL.md when no gateway is running. */
export async function createOfflineSoul(
  store: Store,
  { name, settings }: ChosenAgent,
  all: LoadedSettings['settings'],
  folder: DataFolder,
): Promise<OperatorSoul> {
  const { lock } = await openWorkspaceForCommand(settings, store);
  const named = name === undefined ? undefined : { name, ofAll: all.spend };
  const deps = { folder, store, lock, ...systemTime, log: silentLogger, named };
  const { service } = openSoul(settings, deps);
  await service.sync('at-once');
  return { service, localTime: createLocalTime(settings.agent.timeZone) };
}
