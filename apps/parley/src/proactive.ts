import { randomBytes } from 'node:crypto';
import { newsChecker, postMessage } from '@parley/agent';
import { oneTimeCode, ownersChat, senderNow } from '@parley/channels';
import {
  type AskCron,
  type Clock,
  type LiveBus,
  type Logger,
  type NewId,
  type PassPoint,
  reasonOf,
} from '@parley/contracts';
import { type BootDeps, type GatewayOptions, type PlannedAccount, runBoot } from '@parley/gateway';
import {
  type CronSchedule,
  type CronServiceDeps,
  createCronSchedule,
  createCronService,
  createFindTarget,
  createHeartbeat,
  createHeartbeatService,
  createJudge,
  type Heartbeat,
  type HeartbeatService,
  type JobView,
  tellFailures,
  tokensToday,
  viewOf,
} from '@parley/proactive';
import type { WakeDelivery, WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';
import type { WorkerOptions } from '@parley/worker';
import type { Workspace } from '@parley/workspace';
import { servedBy } from './access.ts';
import { type OpenAgent, outsideTools } from './open-agent.ts';
import type { StartOptions } from './process-options.ts';
import type { LoadedSettings } from './settings.ts';

/** The heartbeat of this installation, and what the worker needs of it. */
export interface OpenHeartbeat {
  readonly heartbeat: Heartbeat;
  /** What people see of it and ask of it. */
  readonly desk: HeartbeatService;
  /** How its runs are judged, and what they may use. */
  readonly rules: WorkerOptions['heartbeat'];
}

/** What it is made from. */
export interface OpenHeartbeatDeps
  extends Pick<CronParts, 'store' | 'turns' | 'deliver' | 'accounts' | 'clock' | 'log'>,
    Pick<OpenAgent, 'place' | 'workspace' | 'promptFiles'>,
    Pick<StartOptions, 'folder'> {
  readonly owners: readonly string[];
}

/** Opens the heartbeat of the agent: tasks of its workspace, alerts to its owner. */
export function openHeartbeat(
  all: LoadedSettings['settings'],
  { place: agent, workspace, promptFiles, accounts, folder, ...deps }: OpenHeartbeatDeps,
): OpenHeartbeat {
  const { store, turns, deliver, clock } = deps;
  const settings = all.heartbeat;
  const { chats } = all.tools.message;
  const serves = servedBy(accounts);
  const findTarget = createFindTarget({ ...deps, serves, chats, tell: settings.tell });
  const tell = async (key: string, markdown: string) => {
    const chat = await ownersChat({ ...deps, serves });
    if (chat === null) return;
    const { replyToMessageId: _, ...route } = chat.last.route;
    await postMessage({ store, deliver, clock }, { key, route, markdown, isMarked: true });
  };
  const heartbeat = createHeartbeat({
    ...deps,
    tellFailures: tellFailures({ store, agent, settings, tell, clock }),
    agent,
    settings,
    view: workspace.for({ kind: 'owner', conversationId: 'heartbeat' }),
    findTarget,
    checkForNews: newsChecker(outsideTools(all, { workspace, promptFiles }, { folder })),
    wake: (lane) => turns.kick(lane),
    deliver: ({ channel, account, chatId }) => deliver(channel, account, chatId),
  });
  const rules = {
    judge: createJudge({ ...deps, agent, settings }),
    limits: async () => {
      const left = settings.tokensPerDay - (await tokensToday({ store, agent, clock }));
      return { steps: settings.steps, tokens: Math.max(0, left) };
    },
  };
  const desk = createHeartbeatService({ heartbeat, store, agent, settings, findTarget, clock });
  return { heartbeat, desk, rules };
}

/** Letters of a job’s id: short enough to type, and taken jobs are not taken twice. */
const CODE_LENGTH = 5;

/** What asking for jobs is made from; without a bus a schedule elsewhere finds them by itself. */
export interface CronDeskParts {
  readonly store: Store;
  readonly accounts: readonly PlannedAccount[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly bus?: LiveBus;
}

/** What running them needs besides. */
interface CronParts extends CronDeskParts {
  readonly turns: Pick<WakeUpQueue, 'kick'>;
  readonly deliver: WakeDelivery;
  readonly pass: PassPoint;
}

/** Jobs of this installation: where they are asked for, and what runs them. */
export interface OpenCron {
  readonly ask: AskCron;
  readonly schedule: CronSchedule;
  /** All jobs as they stand, for the page. */
  views(): Promise<readonly JobView[]>;
}

/** What the desk for jobs of this installation works with. */
export function cronDeskDeps(
  { agent, cron }: Pick<LoadedSettings['settings'], 'agent' | 'cron'>,
  { store, accounts, clock, log, bus }: CronDeskParts,
): CronServiceDeps {
  return {
    store,
    timeZone: agent.timeZone,
    settings: cron,
    senderNow: async (origin) => {
      const rules = rulesOf(accounts, origin.channel, origin.account);
      return rules === null ? null : senderNow({ store, rules }, origin);
    },
    newCode: () => oneTimeCode(randomBytes(CODE_LENGTH), CODE_LENGTH),
    planned: async () => bus?.publish({ type: 'schedule-due', schedule: 'cron' }),
    clock,
    log,
  };
}

/** Opens the jobs of the installation that runs. */
export function openCron(
  settings: Pick<LoadedSettings['settings'], 'agent' | 'cron'>,
  parts: CronParts,
): OpenCron {
  const { store, turns, deliver, clock, pass } = parts;
  const deps = cronDeskDeps(settings, parts);
  const schedule = createCronSchedule({
    ...deps,
    wake: (conversationId) => {
      pass('job-fired');
      return turns.kick(conversationId);
    },
    tell: async ({ route }, key, markdown) => {
      await postMessage({ store, deliver, clock }, { key, route, markdown, isMarked: true });
    },
  });
  return {
    ask: createCronService(deps),
    schedule,
    async views() {
      const views: JobView[] = [];
      for (const job of await store.cronJobs.list()) views.push(await viewOf(deps, job));
      return views;
    },
  };
}

function rulesOf(accounts: readonly PlannedAccount[], channel: string, account: string) {
  for (const one of accounts) {
    if (one.kind !== 'ready') continue;
    const { definition, account: name, rules } = one.plan;
    if (definition.id === channel && name === account) return rules;
  }
  return null;
}

/** Jobs as the page shows them: whoever holds its token runs this installation. */
export function cronPage({ ask, views }: OpenCron): NonNullable<GatewayOptions['cron']> {
  return {
    list: async () => ({ jobs: await views() }),
    act: (id, action) => ask({ action, id }, { kind: 'operator' }),
  };
}

/** What a start needs to run BOOT.md. */
export interface StartBoot extends Pick<BootDeps, 'owners' | 'clock' | 'log'> {
  readonly store: Store;
  /** Id of this process where others may work on the same database. */
  readonly shared: { readonly processId: string } | null;
  readonly turns: Pick<WakeUpQueue, 'kick'>;
  readonly workspace: Workspace;
  readonly accounts: readonly PlannedAccount[];
  readonly newId: NewId;
}

/**
 * Starts to run BOOT.md (W08) and delays no caller; returns a function that waits until that is done. Of
 * several gateways the first runs it: one that joins others, as in a rolling restart, is no start.
 */
export function startBoot(deps: StartBoot): () => Promise<void> {
  const { workspace, accounts, turns, newId } = deps;
  const view = workspace.for({ kind: 'owner', conversationId: 'start' });
  const run = () =>
    runBoot({
      ...deps,
      lanes: turns,
      startId: newId('boot'),
      saysSomething: async () => (await view.read('BOOT.md')).kind === 'file',
      serves: servedBy(accounts),
    });
  const running = isStart(deps).then((yes) => (yes ? run() : undefined));
  return async () => void (await running);
}

async function isStart({ store, shared, clock, log }: StartBoot): Promise<boolean> {
  if (shared === null) return true;
  const { isFirstGateway } = await import('./deployment.ts');
  return isFirstGateway({ store, clock, ...shared }).catch((error: unknown) => {
    log.error({ reason: reasonOf(error) }, 'BOOT.md could not be run; the next start tries again');
    return false;
  });
}
