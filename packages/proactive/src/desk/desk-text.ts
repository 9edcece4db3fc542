import { literalLine } from '@parley/contracts';
import type { HeartbeatAnswer, HeartbeatReport, TaskReport } from './heartbeat-report.ts';
import { counted } from './moment-words.ts';

/** Of more tasks only the names are shown: a telephone has room for so many. */
const SHOWN = 12;

const EXAMPLE = `\`\`\`
## mail
- every: 30 min
- between: 9:00-21:00
- do: Look through new mail. Tell me of what cannot wait.
\`\`\``;

/** What `/heartbeat` answers the owner, in Markdown. */
export function reportText({ plan, tokens, tasks, problems, timeZone }: HeartbeatReport): string {
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

/** The same where others read along: nothing of what the tasks are about. */
export function groupText({ plan, tasks }: HeartbeatReport): string {
  return `**Heartbeat**: ${plan.words}; ${counted(tasks.length, 'task')}. More in a direct chat.`;
}

/** What `/status` says of it, in one line. `nextAt` in words; null: it is off. */
export function statusLine(nextAt: string | null, tasks: number, problems: number): string {
  const next = nextAt === null ? 'off' : `next ${nextAt}`;
  const wrong = problems === 0 ? '' : `, ${counted(problems, 'problem')}: /heartbeat`;
  return `Heartbeat: ${next}, ${tasks === 0 ? 'no tasks' : counted(tasks, 'task')}${wrong}`;
}

/** What `/heartbeat now` answers; in a group nothing of the tasks. */
export function answerText({ task, words }: HeartbeatAnswer, isGroup: boolean): string {
  if (!isGroup) return literalLine(words);
  return task === null
    ? 'Nothing began; ask me in a direct chat why.'
    : 'It begins; what comes of it I tell in its own place.';
}

/** What is wrong with HEARTBEAT.md, as it is said in a chat. */
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
