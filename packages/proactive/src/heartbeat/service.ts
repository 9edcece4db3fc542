import { literalLine } from '@parley/core';
import { zoneClock } from '../zone-clock.ts';
import type { HeartbeatServices } from './heartbeat.ts';
import { makeReport } from './report.ts';
import {
  counted,
  type HeartbeatAnswer,
  type HeartbeatReport,
  momentText,
  type TaskReport,
} from './report-shape.ts';
import { openRuns } from './run.ts';

export type HeartbeatService = ReturnType<typeof openService>;

const USAGE = 'There is `/heartbeat`, and `/heartbeat now` with or without the name of a task.';
const SWITCH =
  'I cannot switch that from here: `heartbeat.enabled` in my settings file says whether I look after tasks by myself, and holds from the next start on. One task is switched off by moving it into a comment of HEARTBEAT.md.';

/** The runs of the heartbeat, and what `/heartbeat`, the command line and the page work with. */
export function openService(deps: HeartbeatServices) {
  const { beat, status } = openRuns(deps);
  const report = async () => makeReport(deps, await status());
  const request = async (messageId: string, wanted?: string): Promise<HeartbeatAnswer> => {
    const id = `asked:${messageId}`;
    const known = await deps.store.heartbeats.of(id);
    const outcome = known ?? (await beat(null, { id, task: wanted }));
    if ('task' in outcome) {
      const { task } = outcome;
      const words = `${task} begins. You hear of it only if there is something to tell; /heartbeat says what came of it.`;
      return { task, words };
    }
    const first = wanted === undefined ? (await report()).tasks.at(0) : undefined;
    const all = first === undefined ? '' : ` "/heartbeat now ${first.name}" runs it all the same.`;
    return { task: null, words: `Nothing began: ${outcome.reason}.${all}` };
  };
  return {
    beat,
    status,
    report,
    request,
    async answer(
      { isGroup, messageId }: { readonly isGroup: boolean; readonly messageId: string },
      argument: string,
    ): Promise<string> {
      const [, verb = '', name = ''] = /^(\S*)\s*(.*)$/s.exec(argument.trim()) ?? [];
      switch (verb.toLowerCase()) {
        case '':
          return isGroup ? groupText(await report()) : reportText(await report());
        case 'now':
          return answerText(await request(messageId, name === '' ? undefined : name), isGroup);
        case 'on':
        case 'off':
          return SWITCH;
        default:
          return `I do not understand that. ${USAGE}`;
      }
    },
    async line(): Promise<string> {
      const { plan, tasks, problems } = await status();
      const now = deps.clock();
      const nextAt = Math.max(plan?.nextAt ?? now, now);
      const next = `next ${momentText(nextAt, zoneClock(deps.agent.timeZone), now)}`;
      const wrong =
        problems.length === 0 ? '' : `, ${counted(problems.length, 'problem')}: /heartbeat`;
      const known = tasks.length === 0 ? 'no tasks' : counted(tasks.length, 'task');
      return `Heartbeat: ${deps.settings.enabled ? next : 'off'}, ${known}${wrong}`;
    },
  };
}

/** Beyond this, only the names of tasks are shown. */
const SHOWN = 12;

const EXAMPLE = `\`\`\`
## mail
- every: 30 min
- between: 9:00-21:00
- do: Look through new mail. Tell me of what cannot wait.
\`\`\``;

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

/** The answer to `/heartbeat now`; in a group without the tasks. */
function answerText({ task, words }: HeartbeatAnswer, isGroup: boolean): string {
  if (!isGroup) return literalLine(words);
  return task === null
    ? 'Nothing began; ask me in a direct chat why.'
    : 'It begins; what comes of it I tell in its own place.';
}

function problemsText(problems: readonly string[]): readonly string[] {
  if (problems.length === 0) return [];
  return [
    ['HEARTBEAT.md needs fixing:\n', ...problems.map((one) => `- ${literalLine(one)}`)].join('\n'),
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
