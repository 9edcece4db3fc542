import { h, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { JobSection } from '../cron/job-section.ts';
import { type HeartbeatState, readHeartbeat } from '../heartbeat/read-heartbeat.ts';
import { RunList } from '../heartbeat/run-list.ts';
import { runNow, type Wished } from '../heartbeat/run-now.ts';
import { TaskList } from '../heartbeat/task-list.ts';
import { type Answer, useAnswer } from '../prompt/use-answer.ts';
import { amount } from '../ui/amount.ts';
import { Icon } from '../ui/icons.ts';
import { randomId } from '../ui/random-id.ts';

/** While a task runs it is looked again this often, in ms; otherwise seldom. */
const SOON_MS = 1_500;
const LATER_MS = 60_000;

/** What the agent looks after by itself: tasks, runs, and why something did not run (H01–H05). */
export function HeartbeatView(): VNode {
  const [round, setRound] = useState(0);
  const [told, setTold] = useState<Wished>();
  const [isBusy, setBusy] = useState(false);
  const answer = useAnswer('/api/heartbeat', readHeartbeat, round);
  const look = (): void => setRound((last) => last + 1);
  useEffect(() => {
    const timer = setTimeout(look, isRunning(answer) ? SOON_MS : LATER_MS);
    return () => clearTimeout(timer);
  }, [answer]);
  const run = async (task: string): Promise<void> => {
    setBusy(true);
    setTold(await runNow(randomId(), task));
    setBusy(false);
    look();
  };
  return h(
    'main',
    { class: 'beat-view' },
    h(
      'div',
      { class: 'beat-column' },
      h(
        'div',
        { class: 'beat-head' },
        h('h2', null, 'Heartbeat'),
        h(
          'button',
          { type: 'button', class: 'quiet', onClick: look, title: 'Look again' },
          h(Icon, { name: 'again' }),
          'Refresh',
        ),
      ),
      h(
        'p',
        { class: told?.began === false ? 'trouble' : 'soul-told', role: 'status', hidden: !told },
        told?.words,
      ),
      answer.kind === 'waiting' && h('p', { role: 'status' }, 'Looking…'),
      answer.kind === 'failed' && h('p', { class: 'trouble', role: 'alert' }, answer.reason),
      answer.kind === 'here' && h(Standing, { state: answer.value, isBusy, onRun: run }),
      h(JobSection, { round }),
    ),
  );
}

interface StandingProps {
  readonly state: HeartbeatState;
  readonly isBusy: boolean;
  readonly onRun: (task: string) => void;
}

function Standing({ state, isBusy, onRun }: StandingProps): VNode {
  const { plan, timeZone, lastBeat, tokensToday, tokensPerDay, tasks, runs, problems } = state;
  return h(
    'div',
    null,
    h('p', { class: 'beat-plan' }, `${plan} (${timeZone})`),
    h(
      'p',
      { class: 'beat-facts' },
      `${amount(tokensToday)} of ${amount(tokensPerDay)} tokens today.`,
      lastBeat === '' ? '' : ` The last beat ran nothing – ${lastBeat}.`,
    ),
    problems.length > 0 && h(Problems, { problems }),
    h('h3', null, 'Tasks'),
    tasks.length === 0 ? h(NoTasks, null) : h(TaskList, { tasks, isBusy, onRun }),
    runs.length > 0 && h('h3', null, 'Last runs'),
    runs.length > 0 && h(RunList, { runs }),
  );
}

function Problems({ problems }: Pick<HeartbeatState, 'problems'>): VNode {
  return h(
    'section',
    { class: 'beat-problems', 'aria-label': 'Problems' },
    h('h3', null, 'HEARTBEAT.md needs mending'),
    h(
      'ul',
      null,
      problems.map((words) => h('li', { key: words }, words)),
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
    h(
      'p',
      null,
      'There are none, so nothing is asked of the model. Write them into HEARTBEAT.md of the workspace, for example:',
    ),
    h('pre', { class: 'layer-text beat-example', tabIndex: 0 }, EXAMPLE),
  );
}

function isRunning(answer: Answer<HeartbeatState>): boolean {
  return answer.kind === 'here' && answer.value.tasks.some(({ last }) => last.state === 'running');
}
