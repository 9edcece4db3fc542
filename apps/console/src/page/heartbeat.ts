import type { HeartbeatAnswer, HeartbeatReport } from '@parley/proactive';
import { h, type VNode } from 'preact';
import { type Answer, ask, type Outcome, randomId } from './gateway.ts';
import { JobSection } from './jobs.ts';
import { amount } from './ui/format.ts';
import {
  ActionButton,
  ColumnView,
  listOf,
  OutcomeNote,
  p,
  shown,
  useFresh,
  useWork,
} from './ui/widgets.ts';

/** While a task runs the page asks again this often, in ms; otherwise seldom. */
const SOON_MS = 1_500;
const LATER_MS = 60_000;

/** Standing tasks, their runs, and why something did not run (H01–H05). */
export function HeartbeatView(): VNode {
  const { answer, refresh, round } = useFresh<HeartbeatReport>('/api/heartbeat', {
    againMs: (answer) => (isRunning(answer) ? SOON_MS : LATER_MS),
  });
  const { isBusy, outcome, run } = useWork(refresh);
  const onRun = (task: string): void => void run(() => runNow(task));
  return h(
    ColumnView,
    { name: 'heartbeat-view', title: 'Heartbeat', refresh },
    h(OutcomeNote, { outcome }),
    shown(answer, (report) => h(Report, { report, isBusy, onRun })),
    h(JobSection, { round }),
  );
}

/** Runs a task at once. The id is new for each press, so that a request sent twice runs nothing twice. */
async function runNow(task: string): Promise<Outcome> {
  const answer = await ask<HeartbeatAnswer>('/api/heartbeat/now', { id: randomId(), task });
  if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
  return { text: answer.value.text, isTrouble: answer.value.task === null };
}

interface ReportProps {
  readonly report: HeartbeatReport;
  /** A request is on its way; the buttons wait. */
  readonly isBusy: boolean;
  readonly onRun: (task: string) => void;
}

function Report({ report, isBusy, onRun }: ReportProps): VNode {
  const { plan, timeZone, tokens, tasks, runs, problems } = report;
  const { lastSkip } = plan;
  return h(
    'div',
    null,
    p('heartbeat-plan', `${plan.text.replaceAll('`', '')} (${timeZone})`),
    p(
      'facts',
      `${amount(tokens.today)} of ${amount(tokens.perDay)} tokens today.`,
      lastSkip === null ? '' : ` The last heartbeat run started no task – ${lastSkip}.`,
    ),
    problems.length > 0 && h(Problems, { problems }),
    h('h3', null, 'Tasks'),
    tasks.length === 0
      ? h(NoTasks, null)
      : listOf('cards', tasks, (task) => h(Task, { key: task.name, task, isBusy, onRun })),
    runs.length > 0 && h('h3', null, 'Last runs'),
    runs.length > 0 && h(RunList, { runs }),
  );
}

interface TaskProps extends Omit<ReportProps, 'report'> {
  readonly task: HeartbeatReport['tasks'][number];
}

/** A standing task. Its texts were written by people and models, and are shown as text. */
function Task({ task, isBusy, onRun }: TaskProps): VNode {
  const { name, schedule, instruction, tell, last, next } = task;
  const isRunning = last.state === 'running';
  return h(
    'article',
    { class: 'card heartbeat-task', 'aria-label': name },
    h(
      'header',
      null,
      h('h4', null, name),
      p('facts', tell === null ? schedule : `${schedule}, notifies ${tell}`),
      h(ActionButton, {
        label: isRunning ? 'Running…' : 'Run now',
        name: `Run ${name} now`,
        isBusy: isBusy || isRunning,
        onPress: () => onRun(name),
      }),
    ),
    h('p', { class: 'heartbeat-instruction', dir: 'auto' }, instruction),
    h(
      'dl',
      null,
      h('dt', null, 'Last'),
      h('dd', { class: `is-${last.state}` }, last.text),
      h('dt', null, 'Next'),
      h('dd', { class: `is-${next.state}` }, next.text),
    ),
  );
}

/** The last runs, newest first: result, cost and alert of each. */
function RunList({ runs }: Pick<HeartbeatReport, 'runs'>): VNode {
  return h(
    'ol',
    { class: 'rows heartbeat-runs' },
    runs.map(({ id, task, state, text, tokens, alert }) =>
      h(
        'li',
        { key: id },
        h('b', null, task),
        h('span', { class: `is-${state}` }, text),
        h('span', null, `${amount(tokens)} tokens`),
        alert !== null && h('blockquote', { class: 'said', dir: 'auto' }, alert),
      ),
    ),
  );
}

function Problems({ problems }: Pick<HeartbeatReport, 'problems'>): VNode {
  return h(
    'section',
    { class: 'heartbeat-problems', 'aria-label': 'Problems' },
    h('h3', null, 'HEARTBEAT.md needs a fix'),
    h(
      'ul',
      null,
      problems.map((problem) => h('li', { key: problem }, problem)),
    ),
  );
}

const EXAMPLE = `## mail
- every: 30 min
- between: 9:00-21:00
- do: Look through new mail. Tell me of what cannot wait.`;

function NoTasks(): VNode {
  return h(
    'div',
    null,
    p(
      '',
      'There are no tasks, so the model is not called. Write them into HEARTBEAT.md of the workspace, for example:',
    ),
    h('pre', { class: 'layer-text', tabIndex: 0 }, EXAMPLE),
  );
}

function isRunning(answer: Answer<HeartbeatReport>): boolean {
  return answer.kind === 'here' && answer.value.tasks.some(({ last }) => last.state === 'running');
}
