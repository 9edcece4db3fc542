import {
  createSpendGuard,
  localTimeIn,
  momentOf,
  nameOf,
  originOf,
  type ScenarioServices,
  type SoulAnswer,
  SoulService,
  type SoulTrial,
  scoreText,
  soulCommand,
  soulStatus,
} from '@parley/agent';
import {
  type Clock,
  type Logger,
  type Meter,
  type Monotonic,
  silentLogger,
  systemTime,
} from '@parley/core';
import { configPath } from '@parley/core/installation';
import type { SoulPage } from '@parley/gateway';
import type { ShownSoul, SoulAction } from '@parley/gateway/api';
import { type ChatModel, createChatModel, OFFLINE_MODEL } from '@parley/models';
import type { SoulVersion, Store } from '@parley/store';
import { openSoulFile, readSoulScenarios, type WorkspaceLock } from '@parley/workspace';
import { CliError, type DataFolder } from './data-folder.ts';
import { newId } from './process-options.ts';
import type { ChosenAgent, LoadedSettings } from './settings.ts';
import { workspaceForCommand } from './shared-lock.ts';

const SCENARIOS = configPath('soul-scenarios');

interface OpenSoulDeps {
  readonly folder: Pick<DataFolder, 'settingsFile'>;
  readonly store: Pick<Store, 'souls' | 'spend'>;
  /** Where several processes share the workspace. */
  readonly lock?: WorkspaceLock | undefined;
  readonly clock: Clock;
  readonly monotonic: Monotonic;
  readonly log: Logger;
  /** For trying texts out; without it they are left for the gateway that runs. */
  readonly models?: { readonly model: () => ChatModel; readonly meter: Meter } | undefined;
  /** Of an agent besides the default one: its name, and the caps that hold for all together (F14). */
  readonly named?: { readonly name: string; readonly ofAll: Spend } | undefined;
}

type Spend = LoadedSettings['settings']['spend'];

/** Opens who the agent is, and the one way to change it (W06). */
export function openSoul(
  settings: LoadedSettings['settings'],
  { folder, store, lock, clock, monotonic, log, models, named }: OpenSoulDeps,
) {
  const { agent, soul } = settings;
  const { souls } = store;
  const file = openSoulFile(agent.workspace, newId, lock);
  const trial = soulTrial(settings, { folder, store, clock, monotonic, log, models, named });
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
  const localTime = localTimeIn(agent.timeZone);
  return {
    service,
    command: soulCommand(service, localTime),
    /** What the agent proposes with; nothing where proposals lead nowhere. */
    tool: soul.apply === 'never' ? {} : { soul: { service, localTime } },
  };
}

/**
 * Tries texts out where a judge is named, by default where a model is; undefined: the rules decide alone. The model
 * of an installation without one cannot judge.
 */
function soulTrial(
  settings: LoadedSettings['settings'],
  { folder, store, clock, monotonic, log, models, named }: Omit<OpenSoulDeps, 'lock'>,
): SoulTrial | undefined {
  const { model: chosen, soul } = settings;
  const isWanted = soul.judge === 'auto' ? typeof chosen.model !== 'string' : soul.judge !== false;
  if (!isWanted || chosen.model === 'offline') return undefined;
  const known = new Map<string, string | null>();
  return async () => {
    if (models === undefined) throw new Error('the gateway that runs asks the models');
    const model = models.model();
    if (model.id === OFFLINE_MODEL) return null;
    const judge = judgeFor(settings, model, { folder, clock, monotonic, log });
    const scenarios = await readSoulScenarios(SCENARIOS);
    const spending = spendingOf(settings, { store, clock, log, named });
    return { model, judge, scenarios, known, ...spending, clock, monotonic, meter: models.meter };
  };
}

/** What asking outside of turns costs counts in the total of the day, and is bound by its cap. */
export function spendingOf(
  { agent, spend }: LoadedSettings['settings'],
  {
    store,
    clock,
    log,
    named,
    purpose = 'soul',
  }: Pick<OpenSoulDeps, 'clock' | 'log' | 'named'> & {
    readonly store: Pick<Store, 'spend'>;
    /** Names it in the log of a refusal. */
    readonly purpose?: string;
  },
): Pick<ScenarioServices, 'mayAsk' | 'spent'> {
  const capsOf = ({ totalDaily, capOwners }: Spend) => ({ totalDaily, capOwners });
  const name = named?.name;
  const place = { name, timeZone: agent.timeZone };
  const own = named && capsOf(spend);
  const guard = createSpendGuard({ store, log }, capsOf(named?.ofAll ?? spend), place, own);
  const localTime = localTimeIn(agent.timeZone);
  const day = () => localTime(clock()).date;
  const account = () => ({ day: day(), personId: '', groupId: null, agent: name });
  const reader = { kind: 'owner', conversationId: purpose } as const;
  return {
    mayAsk: () => guard({ account: account(), used: null, byOwner: true, reader }),
    spent: (usage) => store.spend.add(account(), usage),
  };
}

/** The model that the settings name as judge; `true`: the one that answers. */
function judgeFor(
  { model: chosen, soul }: LoadedSettings['settings'],
  model: ChatModel,
  { folder, log, ...time }: Pick<OpenSoulDeps, 'folder' | 'clock' | 'monotonic' | 'log'>,
): ChatModel {
  if (typeof soul.judge !== 'string' || soul.judge === 'auto') return model;
  if (typeof chosen.model === 'string') {
    log.warn(
      { judge: soul.judge },
      'soul.judge names a model, but the settings name no provider: the model that answers judges',
    );
    return model;
  }
  const settings = { ...chosen, model: { ...chosen.model, model: soul.judge }, fallback: [] };
  return createChatModel(settings, { ...time, settingsFile: folder.settingsFile, logger: log })
    .model;
}

type LocalTime = Parameters<typeof soulStatus>[1];

/** SOUL.md for the page and the command line. */
export function soulPage(service: SoulService, localTime: LocalTime): SoulPage {
  const frozen = async (): Promise<Frozen> => ({
    all: service.settings.apply === 'never',
    toPeople: await service.isOnlyAgents(),
  });
  const answered = async (answer: SoulAnswer) => {
    if (answer.kind === 'refused') throw new CliError('soul', answer.reason.replaceAll('`', ''));
    return shown(answer.version, await frozen(), localTime);
  };
  return {
    async list() {
      await service.look();
      const [versions, held] = [await service.list(), await frozen()];
      return { versions: versions.map((version) => shown(version, held, localTime)) };
    },
    async get(number) {
      const version = await service.get(number);
      if (version === null) throw new CliError('soul', `There is no version ${number}.`);
      return shown(version, await frozen(), localTime);
    },
    act: async (number, action, by) =>
      answered(
        action === 'rollback'
          ? await service.rollback(number, by, newId('order'))
          : await service[action](number, by),
      ),
    propose: async (proposal, by) =>
      answered(
        await service.propose({ ...proposal, by, askedBy: newId('order'), author: 'person' }),
      ),
  };
}

/** SOUL.md where nothing runs. */
export async function soulHere(
  store: Store,
  { name, settings }: ChosenAgent,
  all: LoadedSettings['settings'],
  folder: DataFolder,
): Promise<SoulPage> {
  const { lock } = await workspaceForCommand(settings, store);
  const named = name === undefined ? undefined : { name, ofAll: all.spend };
  const deps = { folder, store, lock, ...systemTime, log: silentLogger, named };
  const { service } = openSoul(settings, deps);
  await service.sync('at-once');
  return soulPage(service, localTimeIn(settings.agent.timeZone));
}

/** Whether no version can be applied, or none that a person wrote. */
interface Frozen {
  readonly all: boolean;
  readonly toPeople: boolean;
}

function shown(version: SoulVersion, frozen: Frozen, localTime: LocalTime): ShownSoul {
  const { number, reason, state, findings, diff, text, createdAt, basedOn } = version;
  return {
    number,
    name: nameOf(version),
    origin: originOf(version),
    reason,
    state,
    status: soulStatus(version, localTime),
    score: scoreText(version),
    findings,
    diff,
    text,
    createdAt,
    made: momentOf(createdAt, localTime),
    basedOn,
    can: actionsOn(version, frozen.all || (frozen.toPeople && version.author === 'person')),
  };
}

function actionsOn({ state, appliedAt }: SoulVersion, isFrozen: boolean): readonly SoulAction[] {
  switch (state) {
    case 'proposed':
      return ['veto'];
    case 'passed':
      return isFrozen ? ['veto'] : ['apply', 'veto'];
    case 'replaced':
      return appliedAt === null ? [] : ['rollback'];
    default:
      return [];
  }
}
