import {
  type CronAnswer,
  type CronOrder,
  type CronWish,
  type InboundMessage,
  silentLogger,
} from '@parley/contracts';
import { CHANNEL_DEFINITIONS } from '@parley/gateway';
import {
  createCronService,
  createFindTarget,
  createHeartbeat,
  HeartbeatAnswer,
  HeartbeatReport,
  makeReport,
} from '@parley/proactive';
import type { Store } from '@parley/store';
import { openWorkspace } from '@parley/workspace';
import { z } from 'zod';
import { LOCAL_OWNERS, planAccounts, servedBy } from '../access.ts';
import { askOr, type Cli, jsonText, withStore } from '../cli.ts';
import { commandLine, WORKSPACE_TEMPLATES } from '../data-folder.ts';
import { cronDeskDeps } from '../proactive.ts';
import { newId } from '../process-options.ts';
import { askRunning, findGateway } from '../running-gateway.ts';
import type { LoadedSettings } from '../settings.ts';
import { visible } from '../terminal/text.ts';

/** What `parley cron` is to do. `to`: whose chat it is for; the owner’s when absent. */
export type CronWork =
  | Extract<CronOrder, { readonly id: string } | { readonly action: 'list' }>
  | { readonly action: 'add'; readonly wish: CronWish; readonly to: string | undefined };

/** What the gateway answers to a change of a job. */
const JobAnswer = z.union([
  z.object({ words: z.string() }).transform(({ words }) => ({ ok: true, words })),
  z.object({ error: z.string() }).transform(({ error }) => ({ ok: false, words: error })),
]);

/**
 * `parley cron …` (H08): 0 done, 1 not, and why is printed. A running gateway makes changes itself, so that
 * its schedule follows at once. Without one, and for new jobs, it works on the database: a gateway reads new
 * jobs there within 30 seconds.
 */
export async function cron(cli: Cli, work: CronWork): Promise<number> {
  const path = pathOfChange(work);
  const onStore = (store: Store, loaded: LoadedSettings) => runCron(loaded, store, work);
  const { ok, words } =
    path === null
      ? await withStore(cli, onStore)
      : (await askOr(cli, { path, body: {}, answer: JobAnswer }, onStore)).answer;
  cli.print(visible(words.replaceAll('`', '')));
  return ok ? 0 : 1;
}

/** Where the gateway makes this change; null where only the database is used. */
function pathOfChange(work: CronWork): string | null {
  switch (work.action) {
    case 'run':
    case 'pause':
    case 'resume':
    case 'remove':
      // What cannot be an id is no part of a path; the database has no such job.
      return /^\w+$/.test(work.id) ? `/api/cron/${work.id}/${work.action}` : null;
    default:
      return null;
  }
}

async function runCron(
  loaded: LoadedSettings,
  store: Store,
  command: CronWork,
): Promise<CronAnswer> {
  const { settings } = loaded;
  const owners = [...settings.owners, ...LOCAL_OWNERS];
  const accounts = planAccounts(loaded, owners, CHANNEL_DEFINITIONS);
  const parts = { store, accounts, clock: Date.now, log: silentLogger };
  const ask = createCronService(cronDeskDeps(settings, parts));
  if (command.action !== 'add') return ask(command, { kind: 'operator' });
  const findTarget = createFindTarget({
    ...parts,
    owners,
    serves: servedBy(accounts),
    tell: 'last',
    chats: settings.tools.message.chats,
  });
  const { to, wish } = command;
  const target = await findTarget({ name: 'cron', ...(to !== undefined && { tell: to }) });
  if (target.kind === 'none') return { ok: false, words: `Not added: ${target.reason}` };
  const { route, last, isOwners } = target;
  const origin = isOwners ? last : withoutPerson(last);
  const askedBy = `command:${newId('order')}`;
  return ask({ action: 'add', askedBy, origin, route, wish }, { kind: 'operator' });
}

/** A job that nobody in a group has asked for is none of theirs. */
function withoutPerson(message: InboundMessage): InboundMessage {
  return { ...message, sender: { id: 'operator', name: 'the operator', isBot: false } };
}

/** `parley heartbeat`: 0 fine, 1 HEARTBEAT.md needs a fix. A stopped installation is read from its files. */
export async function heartbeat(cli: Cli, json = false): Promise<number> {
  const question = { path: '/api/heartbeat', answer: HeartbeatReport };
  const { answer: report, isRunning } = await askOr(cli, question, reportOfStopped);
  cli.print(json ? jsonText({ running: isRunning, ...report }) : heartbeatText(report, isRunning));
  return report.problems.length === 0 ? 0 : 1;
}

/**
 * `parley heartbeat now`: 1 no task was started, 3 nothing runs that could run a task. `task` empty: the one
 * that is due.
 */
export async function heartbeatNow(
  { folder, env, print }: Cli,
  task: string,
  json = false,
): Promise<number> {
  const gateway = await findGateway(folder, env);
  if (gateway === null) {
    const start = commandLine('start', folder);
    print(`No Parley runs on ${folder.path}, so nothing can run a task. Start it with "${start}".`);
    return 3;
  }
  const answer = await askRunning(gateway, {
    path: '/api/heartbeat/now',
    body: { id: newId('wish'), ...(task !== '' && { task }) },
    answer: HeartbeatAnswer,
  });
  print(json ? jsonText(answer) : answer.words);
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
  const workspace = await openWorkspace({
    folder: settings.agent.workspace,
    templates: WORKSPACE_TEMPLATES,
  });
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
  const idle = async () => {};
  const parts = { store, agent, settings: heartbeat, findTarget, clock };
  const made = createHeartbeat({ ...parts, view, log, wake: idle, deliver: idle });
  return makeReport({ ...parts, heartbeat: made, isRunning: false });
}

/** A report for the terminal: one task after the other, then what needs mending. */
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
