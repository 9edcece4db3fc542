import type { CronAction } from '@parley/gateway/api';
import type { JobView } from '@parley/proactive';
import { h, type VNode } from 'preact';
import { act } from './gateway.ts';
import { momentOf } from './ui/format.ts';
import { ActionButton, listOf, OutcomeNote, p, shown, useFresh, useWork } from './ui/widgets.ts';

/** Jobs with a timetable: next run, result of the last one, and what can be done (H08). */
export function JobSection({ round }: { readonly round: number }): VNode {
  const { answer, refresh } = useFresh<{ readonly jobs: readonly JobView[] }>('/api/cron', {
    round,
  });
  const { isBusy, outcome, run } = useWork(refresh);
  const onAct = (id: string, action: CronAction) =>
    run(() => act('/api/cron', 'POST', { action, id }));
  return h(
    'section',
    { class: 'jobs', 'aria-label': 'Jobs' },
    h('h3', null, 'Jobs'),
    h(OutcomeNote, { outcome }),
    shown(answer, ({ jobs }) =>
      jobs.length === 0
        ? h('p', null, NONE)
        : listOf('cards', jobs, (job) =>
            h(Job, { key: job.id, job, isBusy, onAct: (action) => void onAct(job.id, action) }),
          ),
    ),
  );
}

const NONE = 'There are none. Ask the agent to remind you of something, or use "parley cron add".';

interface JobProps {
  readonly job: JobView;
  readonly isBusy: boolean;
  readonly onAct: (action: CronAction) => void;
}

/** A job. Its texts were written by people and models, and are shown as text. */
function Job({ job, isBusy, onAct }: JobProps): VNode {
  const { id, title, task, when, chat } = job;
  return h(
    'article',
    { class: `job is-${job.state}` },
    h('p', null, h('b', null, title), ` ${id}`),
    h('p', null, `${when}; ${stateText(job)}`),
    p('facts', `In ${chat}. ${lastRunText(job)}`),
    task !== title && h('p', { class: 'job-task', dir: 'auto' }, task),
    p(
      'actions',
      ACTIONS[job.state].map((action) =>
        h(ActionButton, {
          key: action,
          label: LABELS[action],
          name: `${LABELS[action]}: ${title}`,
          look: action === 'remove' ? 'is-grave' : '',
          isBusy,
          onPress: () => onAct(action),
        }),
      ),
    ),
  );
}

const LABELS = { run: 'Run now', pause: 'Pause', resume: 'Resume', remove: 'Remove' } as const;
const ACTIONS: Readonly<Record<JobView['state'], readonly CronAction[]>> = {
  on: ['run', 'pause', 'remove'],
  paused: ['resume', 'remove'],
  over: ['run', 'remove'],
};

function stateText({ state, waits, nextAt }: JobView): string {
  if (state !== 'on') return state;
  if (waits !== null) return `waits, because ${waits}`;
  return nextAt === null ? 'never again' : `next ${momentOf(nextAt)}`;
}

function lastRunText({ lastAt, lastOutcome, failures }: JobView): string {
  if (lastAt === null) return 'It has not run yet.';
  const row = failures > 1 ? `, ${failures} times in a row` : '';
  return `Last run ${momentOf(lastAt)}: ${lastOutcome ?? 'under way'}${row}.`;
}
