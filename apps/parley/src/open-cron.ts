import { randomBytes } from 'node:crypto';
import { postMessage } from '@parley/agent';
import { oneTimeCode, senderNow } from '@parley/channels';
import type { AskCron, Clock, LiveBus, Logger, PassPoint } from '@parley/contracts';
import type { PlannedAccount } from '@parley/gateway';
import {
  type CronDeskDeps,
  type CronSchedule,
  createCronDesk,
  createCronSchedule,
  type JobView,
  viewOf,
} from '@parley/proactive';
import type { WakeDelivery, WakeUpQueue } from '@parley/queue';
import type { Store } from '@parley/store';
import type { LoadedSettings } from './read-settings.ts';

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
): CronDeskDeps {
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
  parts: CronDeskParts & {
    readonly turns: Pick<WakeUpQueue, 'kick'>;
    readonly deliver: WakeDelivery;
    readonly pass: PassPoint;
  },
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
    ask: createCronDesk(deps),
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
