import { literalLine } from '@parley/contracts';
import { zoneClock } from '../zone-clock.ts';
import type { Heartbeat } from './heartbeat.ts';
import { makeReport, type ReportDeps } from './report.ts';
import {
  counted,
  type HeartbeatAnswer,
  type HeartbeatReport,
  momentText,
  type TaskReport,
} from './report-shape.ts';

/** The sender of `/heartbeat`, always an owner. */
interface HeartbeatAsker {
  readonly isGroup: boolean;
  /** Unique over all chats. */
  readonly messageId: string;
}

/** The heartbeat for chat, command line and page. */
export interface HeartbeatService {
  /** Answers `/heartbeat`, in Markdown. Idempotent per message. */
  answer(asker: HeartbeatAsker, argument: string): Promise<string>;
  /** For `/status`, in one line. */
  line(): Promise<string>;
  report(): Promise<HeartbeatReport>;
  /** Runs a task at once: the named one, or the one that is due. Requested twice with one id it runs once. */
  now(id: string, task?: string): Promise<HeartbeatAnswer>;
}

export interface HeartbeatServiceDeps extends Omit<ReportDeps, 'isRunning'> {
  readonly heartbeat: Heartbeat;
}

const USAGE = 'There is `/heartbeat`, and `/heartbeat now` with or without the name of a task.';
const SWITCH =
  'I cannot switch that from here: `heartbeat.enabled` in my settings file says whether I look after tasks by myself, and holds from the next start on. One task is switched off by moving it into a comment of HEARTBEAT.md.';

export function createHeartbeatService(deps: HeartbeatServiceDeps): HeartbeatService {
  const report = () => makeReport({ ...deps, isRunning: true });
  const now = (id: string, task?: string) => runNow(deps, report, `asked:${id}`, task);
  return {
    report,
    now,
    async answer({ isGroup, messageId }, argument) {
      const [, verb = '', name = ''] = /^(\S*)\s*(.*)$/s.exec(argument.trim()) ?? [];
      switch (verb.toLowerCase()) {
        case '':
          return isGroup ? groupText(await report()) : reportText(await report());
        case 'now':
          return answerText(await now(messageId, name === '' ? undefined : name), isGroup);
        case 'on':
        case 'off':
          return SWITCH;
        default:
          return `I do not understand that. ${USAGE}`;
      }
    },
    async line() {
      const { plan, tasks, problems } = await deps.heartbeat.status();
      const moment = deps.clock();
      const clock = zoneClock(deps.agent.timeZone);
      const nextAt = Math.max(plan?.nextAt ?? moment, moment);
      const next = deps.settings.enabled ? momentText(nextAt, clock, moment) : null;
      return statusLine(next, tasks.length, problems.length);
    },
  };
}

async function runNow(
  { heartbeat, store }: HeartbeatServiceDeps,
  report: () => Promise<HeartbeatReport>,
  id: string,
  wanted?: string,
): Promise<HeartbeatAnswer> {
  const known = await store.heartbeats.of(id);
  if (known !== null) return begun(known.task);
  const outcome = await heartbeat.now(id, wanted);
  if (outcome.kind === 'begun') return begun(outcome.task);
  const { reason } = outcome;
  const isNamed = wanted !== undefined;
  const first = isNamed ? undefined : (await report()).tasks.at(0);
  const all = first === undefined ? '' : ` "/heartbeat now ${first.name}" runs it all the same.`;
  return { task: null, words: `Nothing began: ${reason}.${all}` };
}

function begun(task: string): HeartbeatAnswer {
  const words = `${task} begins. You hear of it only if there is something to tell; /heartbeat says what came of it.`;
  return { task, words };
}

/** Beyond this, only the names of tasks are shown. */
const SHOWN = 12;

const EXAMPLE = `\`\`\`
## mail
- every: 30 min
- between: 9:00-21:00
- do: Look through new mail. Tell me of what cannot wait.
\`\`\``;

/** What `/heartbeat` answers the owner, in Markdown. */
function reportText({ plan, tokens, tasks, problems, timeZone }: HeartbeatReport): string {
  const names = tasks.slice(SHOWN).map(({ name }) => code(name));
  return [
    `**Heartbeat**: ${plan.words} (${timeZone}).`,
    ...(plan.lastWords === null
      ? []
      : [`The last beat ran nothing – ${literalLine(plan.lastWords)}.`]),
    ...(tasks.length === 0 && problems.length === 0 ? [noTasks()] : []),
    ...(tasks.length === 0 ? [] : [tasks.slice(0, SHOWN).map(taskText).join('\n')]),
    ...(names.length === 0 ? [] : [`And ${names.join(', ')}.`]),
    ...problemsText(problems),
    ...(tasks.length === 0
      ? []
      : [
          `Today: ${tokens.today} of ${tokens.perDay} tokens. ${code(`/heartbeat now ${tasks[0]?.name}`)} runs one at once.`,
        ]),
  ].join('\n\n');
}

/** The same for a group: without the contents of the tasks. */
function groupText({ plan, tasks }: HeartbeatReport): string {
  return `**Heartbeat**: ${plan.words}; ${counted(tasks.length, 'task')}. More in a direct chat.`;
}

/** The line in `/status`. `nextAt` as text; null: it is off. */
function statusLine(nextAt: string | null, tasks: number, problems: number): string {
  const next = nextAt === null ? 'off' : `next ${nextAt}`;
  const wrong = problems === 0 ? '' : `, ${counted(problems, 'problem')}: /heartbeat`;
  return `Heartbeat: ${next}, ${tasks === 0 ? 'no tasks' : counted(tasks, 'task')}${wrong}`;
}

/** The answer to `/heartbeat now`; in a group without the tasks. */
function answerText({ task, words }: HeartbeatAnswer, isGroup: boolean): string {
  if (!isGroup) return literalLine(words);
  return task === null
    ? 'Nothing began; ask me in a direct chat why.'
    : 'It begins; what comes of it I tell in its own place.';
}

/** Problems in HEARTBEAT.md, for a chat. */
function problemsText(problems: readonly string[]): readonly string[] {
  if (problems.length === 0) return [];
  return [
    ['HEARTBEAT.md needs mending:\n', ...problems.map((one) => `- ${literalLine(one)}`)].join('\n'),
  ];
}

function taskText({ name, schedule, tell, last, next }: TaskReport): string {
  const to = tell === null ? '' : `, tells ${literalLine(tell)}`;
  return [
    `- **${literalLine(name)}** – ${schedule}${to}`,
    `  - last: ${literalLine(last.words)}`,
    `  - next: ${literalLine(next.words)}`,
  ].join('\n');
}

function noTasks(): string {
  return `There are no tasks, so nothing is asked of the model. Write them into HEARTBEAT.md of my workspace, or tell me what to look after. For example:\n\n${EXAMPLE}`;
}

function code(text: string): string {
  return `\`${text.replaceAll('`', '')}\``;
}
