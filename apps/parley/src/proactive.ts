import { randomBytes } from 'node:crypto';
import { createNewsChecker, postNotice } from '@parley/agent';
import {
  createOneTimeCode,
  findCurrentSender,
  findOwnerChat,
  resolveAgent,
} from '@parley/channels';
import {
  type Checkpoint,
  type Clock,
  type LiveBus,
  type Logger,
  type Meter,
  type NewId,
  newId,
  type Runtime,
  reasonOf,
  silentLogger,
  silentMeter,
  systemTime,
} from '@parley/core';
import { type BootDeps, CHANNEL_DEFINITIONS, type PlannedAccount, runBoot } from '@parley/gateway';
import {
  type Cron,
  countTokensToday,
  createAlertTargetFinder,
  createCron,
  createHeartbeatJudge,
  createHooks,
  Heartbeat,
  type Hooks,
} from '@parley/proactive';
import type { OperatorCron } from '@parley/proactive/cron';
import type { WakeDelivery, WakeUpQueue } from '@parley/queue';
import type { HeartbeatRun, Store } from '@parley/store';
import type { Workspace } from '@parley/workspace';
import { createServedAccountCheck, listOwners, planAccounts } from './access.ts';
import { createOutsideTools, type OpenAgent } from './open-agent.ts';
import type { StartOptions } from './process-options.ts';
import { type ChosenAgent, findChosenAgent, type LoadedSettings } from './settings.ts';
import { openWorkspaceForCommand } from './shared-lock.ts';

interface OpenHeartbeatDeps
  extends Pick<CronDeps, 'store' | 'turns' | 'deliver' | 'accounts' | 'clock' | 'log'>,
    Pick<Runtime, 'meter'>,
    Pick<OpenAgent, 'place' | 'workspace' | 'promptFiles'>,
    Pick<StartOptions, 'folder'> {
  readonly owners: readonly string[];
}

export function openHeartbeat(
  all: LoadedSettings['settings'],
  { place: agent, workspace, promptFiles, accounts, folder, ...deps }: OpenHeartbeatDeps,
) {
  const { store, turns, deliver, clock } = deps;
  const settings = all.heartbeat;
  const { chats } = all.tools.message;
  const serves = createServedAccountCheck(accounts);
  const { name: agentName } = agent;
  const targetOf = (tell: string) =>
    createAlertTargetFinder({ ...deps, agentName, serves, chats, tell });
  const findTarget = targetOf(settings.notify);
  const notify = async (key: string, markdown: string) => {
    const chat = await findOwnerChat({ ...deps, agentName, serves });
    if (chat === null) return;
    const { conversationId, last } = chat;
    await postNotice(
      { store, deliver, clock },
      { key, route: last.route, conversationId, markdown },
    );
  };
  const { isMachinesTimeZone } = all.agent;
  const heartbeat = new Heartbeat({
    ...deps,
    notify,
    agent: { ...agent, isMachinesTimeZone },
    settings,
    view: workspace.for({ kind: 'owner', conversationId: 'heartbeat' }),
    findTarget,
    checkForNews: createNewsChecker(
      createOutsideTools(all, { workspace, promptFiles }, { folder }),
    ),
    wake: (lane) => turns.wake(lane),
    deliver: ({ channel, account, chatId }) => deliver(channel, account, chatId),
  });
  const rules = {
    judge: createHeartbeatJudge({ ...deps, agent, settings, timeZone: () => heartbeat.timeZone() }),
    limits: async (run: Pick<HeartbeatRun, 'agent'>) => {
      // Runs started by a hook do not count toward the heartbeat's budget; `spend` limits both.
      if (run.agent !== agent.id) return {};
      const left = settings.tokensPerDay - (await countTokensToday({ store, agent, clock }));
      return { steps: settings.steps, tokens: Math.max(0, left) };
    },
    upkeep: { notes: settings.memoryUpkeepDays, tokens: settings.memoryTokens },
  };
  return { heartbeat, rules, targetOf };
}

interface HookDeps extends Pick<CronDeps, 'store' | 'turns' | 'clock' | 'log'> {
  readonly meter: Meter;
}

/**
 * Opens the hooks of all agents. `agentOf` returns an agent's services by name, or those of the
 * default agent if there is no name.
 */
export function openHooks(
  { hooks, agent }: Pick<LoadedSettings['settings'], 'hooks' | 'agent'>,
  { turns, ...parts }: HookDeps,
  agentOf: (name: string | undefined) => AgentWithHooks | undefined,
): Hooks {
  // The default agent's conversation ids do not contain an agent name.
  const rules = Object.fromEntries(
    Object.entries(hooks).map(([name, hook]) => [
      name,
      hook.agent === agent.id ? { ...hook, agent: undefined } : hook,
    ]),
  );
  return createHooks({
    ...{ ...parts, rules, newId },
    wake: (lane) => turns.wake(lane),
    agentOf(name) {
      const found = agentOf(name);
      if (found === undefined) return undefined;
      const { heartbeat, targetOf: findTarget } = found.proactive;
      return { heartbeat, findTarget, owners: found.owners };
    },
  });
}

interface AgentWithHooks {
  readonly owners: readonly string[];
  readonly proactive: Pick<ReturnType<typeof openHeartbeat>, 'heartbeat' | 'targetOf'>;
}

/**
 * The length of a job's id in characters. Ids are short enough to type, and ids in use are not
 * assigned again.
 */
const CODE_LENGTH = 5;

interface CronDeps {
  readonly store: Store;
  readonly accounts: readonly PlannedAccount[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly bus?: LiveBus;
  readonly turns: Pick<WakeUpQueue, 'wake'>;
  readonly deliver: WakeDelivery;
  readonly checkpoint: Checkpoint;
}

export function openCron(
  loaded: Pick<LoadedSettings, 'settings' | 'agents'>,
  { store, accounts, turns, bus, deliver, clock, log, checkpoint }: CronDeps,
): Cron & OperatorCron {
  const { settings, agents } = loaded;
  const { agent, cron, tools } = settings;
  const settingsOf = (name: string | undefined) => agents.get(name ?? '') ?? settings;
  const serves = createServedAccountCheck(accounts);
  const jobs = createCron({
    store,
    timeZoneOf: (name) => (agents.get(name ?? '')?.agent ?? agent).timeZone,
    async askOwner({ agent: agentName, ...question }) {
      const owners = listOwners(settingsOf(agentName));
      const chat = await findOwnerChat({ store, owners, agentName, serves });
      if (chat === null) return false;
      const { conversationId, last } = chat;
      const notice = { ...question, route: last.route, conversationId };
      await postNotice({ store, deliver, clock }, notice);
      return true;
    },
    settings: cron,
    senderNow: async (origin, name) => {
      const rules = findAccountRules(accounts, origin.channel, origin.account);
      return rules === null ? null : findCurrentSender({ store, rules }, origin, name);
    },
    newCode: () => createOneTimeCode(randomBytes(CODE_LENGTH), CODE_LENGTH),
    planned: async () => bus?.publish({ type: 'schedule-due', schedule: 'cron' }),
    wake: (conversationId) => {
      checkpoint('job-fired');
      return turns.wake(conversationId);
    },
    notify: ({ route, conversationId }, key, markdown) =>
      postNotice({ store, deliver, clock }, { key, route, conversationId, markdown }),
    clock,
    log,
  });
  return {
    ...jobs,
    ...{ serves, chats: tools.message.chats },
    findTarget(named) {
      const { name: agentName, settings: own } = findChosenAgent(loaded, named);
      const { chats } = own.tools.message;
      const owners = listOwners(own);
      return createAlertTargetFinder({
        store,
        log,
        owners,
        agentName,
        serves,
        tell: 'last',
        chats,
      });
    },
    agentAt(message) {
      const rules = findAccountRules(accounts, message.channel, message.account);
      return rules === null ? undefined : resolveAgent(message, rules).agent;
    },
  };
}

const idle = async () => {};

/**
 * Provides access to jobs when no gateway is running. The next start or check runs the jobs that
 * are due.
 */
export function createOfflineCron(store: Store, loaded: LoadedSettings): OperatorCron {
  const accounts = planAccounts(loaded, listOwners(loaded.settings), CHANNEL_DEFINITIONS);
  const waking = { turns: { wake: idle }, deliver: idle, checkpoint: () => {} };
  return openCron(loaded, { store, accounts, ...systemTime, log: silentLogger, ...waking });
}

/**
 * Provides access to hooks when no gateway is running: recent events can be read, but no events are
 * accepted.
 */
export function createOfflineHooks(store: Store, { settings }: LoadedSettings) {
  const parts = { store, turns: { wake: idle }, ...systemTime, log: silentLogger };
  return openHooks(settings, { ...parts, meter: silentMeter }, () => undefined);
}

/** Provides the heartbeat report when no gateway is running, based on the files. */
export async function createOfflineHeartbeat(store: Store, { name, settings }: ChosenAgent) {
  const { heartbeat, tools, agent } = settings;
  const { id, timeZone, isMachinesTimeZone } = agent;
  const { workspace } = await openWorkspaceForCommand(settings, store);
  const parts = { store, ...systemTime, log: silentLogger };
  const findTarget = createAlertTargetFinder({
    ...parts,
    owners: listOwners(settings),
    agentName: name,
    // Which accounts work is known only after the start, so all are assumed to work.
    serves: () => true,
    chats: tools.message.chats,
    tell: heartbeat.notify,
  });
  const view = workspace.for({ kind: 'owner', conversationId: 'heartbeat' });
  const place = { id, timeZone, isMachinesTimeZone, name };
  const services = { ...parts, agent: place, settings: heartbeat, findTarget, view };
  return new Heartbeat({ ...services, wake: idle, deliver: idle, isRunning: false });
}

function findAccountRules(accounts: readonly PlannedAccount[], channel: string, account: string) {
  for (const one of accounts) {
    if (one.kind !== 'ready') continue;
    const { definition, account: name, rules } = one.plan;
    if (definition.id === channel && name === account) return rules;
  }
  return null;
}

interface BootStart extends Pick<BootDeps, 'clock' | 'log'> {
  readonly store: Store;
  readonly shared: { readonly processId: string } | null;
  readonly turns: Pick<WakeUpQueue, 'wake'>;
  readonly agents: readonly {
    readonly agent: {
      readonly workspace: Workspace;
      readonly place: { readonly name?: string | undefined };
    };
    readonly owners: readonly string[];
  }[];
  readonly accounts: readonly PlannedAccount[];
  readonly newId: NewId;
}

/**
 * Runs each agent's BOOT.md in the background (W08). The returned function waits until these runs
 * have ended. In a deployment with several gateways, only the first one runs BOOT.md; joining a
 * running deployment, as in a rolling restart, does not count as a start.
 */
export function startBoot(deps: BootStart): () => Promise<void> {
  const { agents, accounts, turns, newId } = deps;
  const run = async (): Promise<void> => {
    for (const { agent, owners } of agents) {
      const view = agent.workspace.for({ kind: 'owner', conversationId: 'start' });
      await runBoot({
        ...deps,
        owners,
        agentName: agent.place.name,
        lanes: turns,
        startId: newId('boot'),
        saysSomething: async () => (await view.read('BOOT.md')).kind === 'file',
        serves: createServedAccountCheck(accounts),
      });
    }
  };
  const running = isFirstStart(deps).then((yes) => (yes ? run() : undefined));
  return async () => void (await running);
}

async function isFirstStart({ store, shared, log }: BootStart): Promise<boolean> {
  if (shared === null) return true;
  const { isFirstGateway } = await import('./deployment.ts');
  return isFirstGateway(store, shared.processId).catch((error: unknown) => {
    log.error({ reason: reasonOf(error) }, 'BOOT.md could not be run; the next start tries again');
    return false;
  });
}
