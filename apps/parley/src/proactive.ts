import { randomBytes } from 'node:crypto';
import { newsChecker, postMessage } from '@parley/agent';
import { oneTimeCode, ownersChat, senderNow } from '@parley/channels';
import {
  type Clock,
  type LiveBus,
  type Logger,
  type NewId,
  type PassPoint,
  reasonOf,
} from '@parley/core';
import { type BootDeps, type PlannedAccount, runBoot } from '@parley/gateway';
import {
  type CronServices,
  createCron,
  createFindTarget,
  createJudge,
  Heartbeat,
  tokensToday,
} from '@parley/proactive';
import type { WakeDelivery, WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';
import type { Workspace } from '@parley/workspace';
import { servedBy } from './access.ts';
import { type OpenAgent, outsideTools } from './open-agent.ts';
import type { StartOptions } from './process-options.ts';
import type { LoadedSettings } from './settings.ts';

interface OpenHeartbeatDeps
  extends Pick<CronParts, 'store' | 'turns' | 'deliver' | 'accounts' | 'clock' | 'log'>,
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
  const serves = servedBy(accounts);
  const findTarget = createFindTarget({ ...deps, serves, chats, tell: settings.tell });
  const notify = async (key: string, markdown: string) => {
    const chat = await ownersChat({ ...deps, serves });
    if (chat === null) return;
    const { replyToMessageId: _, ...route } = chat.last.route;
    await postMessage({ store, deliver, clock }, { key, route, markdown, isMarked: true });
  };
  const heartbeat = new Heartbeat({
    ...deps,
    notify,
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
  return { heartbeat, rules };
}

/** Letters of a job’s id: short enough to type, and taken jobs are not taken twice. */
const CODE_LENGTH = 5;

interface CronDeskParts {
  readonly store: Store;
  readonly accounts: readonly PlannedAccount[];
  readonly clock: Clock;
  readonly log: Logger;
  readonly bus?: LiveBus;
}

interface CronParts extends CronDeskParts {
  readonly turns: Pick<WakeUpQueue, 'kick'>;
  readonly deliver: WakeDelivery;
  readonly pass: PassPoint;
}

export function cronDeskDeps(
  { agent, cron }: Pick<LoadedSettings['settings'], 'agent' | 'cron'>,
  { store, accounts, clock, log, bus }: CronDeskParts,
): Omit<CronServices, 'wake' | 'notify'> {
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

export function openCron(
  settings: Pick<LoadedSettings['settings'], 'agent' | 'cron'>,
  parts: CronParts,
) {
  const { store, turns, deliver, clock, pass } = parts;
  return createCron({
    ...cronDeskDeps(settings, parts),
    wake: (conversationId) => {
      pass('job-fired');
      return turns.kick(conversationId);
    },
    notify: async ({ route }, key, markdown) => {
      await postMessage({ store, deliver, clock }, { key, route, markdown, isMarked: true });
    },
  });
}

function rulesOf(accounts: readonly PlannedAccount[], channel: string, account: string) {
  for (const one of accounts) {
    if (one.kind !== 'ready') continue;
    const { definition, account: name, rules } = one.plan;
    if (definition.id === channel && name === account) return rules;
  }
  return null;
}

interface StartBoot extends Pick<BootDeps, 'owners' | 'clock' | 'log'> {
  readonly store: Store;
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
  return isFirstGateway({ store, clock }, shared.processId).catch((error: unknown) => {
    log.error({ reason: reasonOf(error) }, 'BOOT.md could not be run; the next start tries again');
    return false;
  });
}
