import {
  type CronAnswer,
  type CronOrder,
  type CronWish,
  type InboundMessage,
  silentLogger,
} from '@parley/core';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import {
  createCron,
  createFindTarget,
  Heartbeat,
  HeartbeatAnswer,
  HeartbeatReport,
} from '@parley/proactive';
import type { Store } from '@parley/store';
import { z } from 'zod';
import { LOCAL_OWNERS, planAccounts, servedBy } from '../access.ts';
import { ask, type Cli, jsonText, notRunning, withStore } from '../cli.ts';
import { cronDeskDeps } from '../proactive.ts';
import { newId } from '../process-options.ts';
import type { LoadedSettings } from '../settings.ts';
import { workspaceForCommand } from '../shared-lock.ts';
import { visible } from '../terminal/text.ts';

type CronChange = Extract<CronOrder, { readonly id: string } | { readonly action: 'list' }>;

const JobAnswer = z.union([
  z.object({ words: z.string() }).transform(({ words }) => ({ ok: true, words })),
  z.object({ error: z.string() }).transform(({ error }) => ({ ok: false, words: error })),
]);

/**
 * `parley cron …` (H08): 0 done, 1 not, and why is printed. A running gateway makes changes itself, so that
 * its schedule follows at once; lists and new jobs use the database, where a gateway looks every 30 seconds.
 */
export async function cron(cli: Cli, order: CronChange): Promise<number> {
  const isChange = order.action !== 'list' && order.action !== 'show';
  // What cannot be an id is no part of a path; the database has no such job.
  const path = isChange && /^\w+$/.test(order.id) && `/api/cron/${order.id}/${order.action}`;
  const done = path ? await ask(cli, { path, body: {}, answer: JobAnswer }) : null;
  const here = (store: Store, loaded: LoadedSettings) =>
    openService(store, loaded).ask(order, { kind: 'operator' });
  return printAnswer(cli, done ?? (await withStore(cli, here)));
}

/** `to`: whose chat it is for; the owner’s when absent. */
export async function addJob(cli: Cli, wish: CronWish, to: string | undefined): Promise<number> {
  const answer = await withStore(cli, async (store, loaded): Promise<CronAnswer> => {
    const { ask, findTarget } = openService(store, loaded);
    const target = await findTarget({ name: 'cron', ...(to !== undefined && { tell: to }) });
    if (target.kind === 'none') return { ok: false, words: `Not added: ${target.reason}` };
    const { route, last, isOwners } = target;
    const origin = isOwners ? last : withoutPerson(last);
    const askedBy = `command:${newId('order')}`;
    return ask({ action: 'add', askedBy, origin, route, wish }, { kind: 'operator' });
  });
  return printAnswer(cli, answer);
}

function printAnswer({ print }: Cli, { ok, words }: Pick<CronAnswer, 'ok' | 'words'>): number {
  print(visible(words.replaceAll('`', '')));
  return ok ? 0 : 1;
}

function openService(store: Store, loaded: LoadedSettings) {
  const { settings } = loaded;
  const owners = [...settings.owners, ...LOCAL_OWNERS];
  const accounts = planAccounts(loaded, owners, CHANNEL_DEFINITIONS);
  const parts = { store, accounts, owners, clock: Date.now, log: silentLogger };
  const { chats } = settings.tools.message;
  const findTarget = createFindTarget({
    ...parts,
    serves: servedBy(accounts),
    tell: 'last',
    chats,
  });
  const { ask } = createCron({ ...cronDeskDeps(settings, parts), wake: idle, notify: idle });
  return { ask, findTarget };
}

const idle = async () => {};

/** A job that nobody in a group has asked for is none of theirs. */
function withoutPerson(message: InboundMessage): InboundMessage {
  return { ...message, sender: { id: 'operator', name: 'the operator', isBot: false } };
}

/** `parley heartbeat`: 0 fine, 1 HEARTBEAT.md needs a fix. A stopped installation is read from its files. */
export async function heartbeat(cli: Cli, json = false): Promise<number> {
  const question = { path: '/api/heartbeat', answer: HeartbeatReport };
  const running = await ask(cli, question);
  const isRunning = running !== null;
  const report = running ?? (await withStore(cli, reportOfStopped));
  cli.print(json ? jsonText({ running: isRunning, ...report }) : heartbeatText(report, isRunning));
  return report.problems.length === 0 ? 0 : 1;
}

/** `parley heartbeat now`: 1 no task was started, 3 nothing runs. `task` empty: the one that is due. */
export async function heartbeatNow(cli: Cli, task: string, json = false): Promise<number> {
  const answer = await ask(cli, {
    path: '/api/heartbeat/now',
    body: { id: newId('wish'), ...(task !== '' && { task }) },
    answer: HeartbeatAnswer,
  });
  if (answer === null) return notRunning(cli);
  cli.print(json ? jsonText(answer) : answer.words);
  return answer.task === null ? 1 : 0;
}

async function reportOfStopped(
  store: Store,
  { settings }: LoadedSettings,
): Promise<HeartbeatReport> {
  const clock = Date.now;
  const log = silentLogger;
  const { heartbeat, owners, tools } = settings;
  const agent = { id: settings.agent.id, timeZone: settings.agent.timeZone };
  const { workspace } = await workspaceForCommand(settings, store);
  const findTarget = createFindTarget({
    store,
    owners: [...owners, ...LOCAL_OWNERS],
    // Which accounts work shows when it is started.
    serves: () => true,
    chats: tools.message.chats,
    tell: heartbeat.tell,
    log,
  });
  const view = workspace.for({ kind: 'owner', conversationId: 'heartbeat' });
  const parts = { store, agent, settings: heartbeat, findTarget, clock, view, log };
  return new Heartbeat({ ...parts, wake: idle, deliver: idle, isRunning: false }).report();
}

/** A report for the terminal: one task after the other, then what needs fixing. */
export function heartbeatText(report: HeartbeatReport, isRunning: boolean): string {
  const { plan, tokens, tasks, problems, timeZone } = report;
  return [
    `heartbeat  ${plan.words.replaceAll('`', '')} (${timeZone})`,
    ...(isRunning ? [] : ['           Parley does not run: times are as if it were started now']),
    ...(plan.lastWords === null ? [] : [`last beat  ran nothing: ${plan.lastWords}`]),
    `today      ${tokens.today} of ${tokens.perDay} tokens`,
    ...(tasks.length === 0 ? ['\nThere are no tasks in HEARTBEAT.md.'] : []),
    ...tasks.flatMap(({ name, schedule, tell, last, next }) => [
      `\n${name}  ${schedule}${tell === null ? '' : `, tells ${tell}`}`,
      `  last     ${last.words}`,
      `  next     ${next.words}`,
    ]),
    ...(problems.length === 0 ? [] : ['', ...problems]),
  ]
    .flatMap((text) => text.split('\n'))
    .map(visible)
    .join('\n');
}
