import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { act as ask, useAnswer } from '../prompt/use-answer.ts';
import { momentOf } from '../ui/moment.ts';
import { type CronJob, readJobs } from './read-jobs.ts';

/** Jobs that run at a time to come: when, how the last run ended, and what can be done (H08). */
export function JobSection({ round: asked }: { readonly round: number }): VNode {
  const [own, setOwn] = useState(0);
  const [trouble, setTrouble] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);
  const answer = useAnswer('/api/cron', readJobs, asked + own);
  const act = async (id: string, action: JobAction): Promise<void> => {
    setBusy(true);
    setTrouble(await ask(`/api/cron/${encodeURIComponent(id)}/${action}`));
    setBusy(false);
    setOwn((last) => last + 1);
  };
  const jobs = answer.kind === 'here' ? answer.value : [];
  return h(
    'section',
    { class: 'jobs', 'aria-label': 'Jobs' },
    h('h3', null, 'Jobs'),
    trouble !== null && h('p', { class: 'trouble', role: 'alert' }, trouble),
    answer.kind === 'failed' && h('p', { class: 'trouble', role: 'alert' }, answer.reason),
    answer.kind === 'here' && jobs.length === 0 && h('p', null, NOTHING),
    h(
      'ul',
      { class: 'job-list' },
      jobs.map((job) =>
        h(
          'li',
          { key: job.id },
          h(Job, { job, isBusy, onAct: (action) => void act(job.id, action) }),
        ),
      ),
    ),
  );
}

const NOTHING =
  'There are none. Ask the agent to remind you of something, or use "parley cron add".';

/** What may be done with a job here. */
type JobAction = 'pause' | 'resume' | 'remove' | 'run';

interface JobProps {
  readonly job: CronJob;
  readonly isBusy: boolean;
  readonly onAct: (action: JobAction) => void;
}

function Job({ job, isBusy, onAct }: JobProps): VNode {
  const { id, title, task, when, chat } = job;
  return h(
    'article',
    { class: `job is-${job.state}` },
    h('p', { class: 'job-title' }, h('b', null, title), ` ${id}`),
    h('p', null, `${when}; ${standing(job)}`),
    h('p', { class: 'beat-facts' }, `In ${chat}. ${lastRun(job)}`),
    task !== title && h('p', { class: 'job-task', dir: 'auto' }, task),
    h(
      'p',
      { class: 'soul-actions' },
      ACTIONS[job.state].map(({ action, words }) =>
        h(
          'button',
          {
            key: action,
            type: 'button',
            class: `soul-button ${action === 'remove' ? 'does-veto' : ''}`,
            disabled: isBusy,
            'aria-label': `${words}: ${title}`,
            onClick: () => onAct(action),
          },
          words,
        ),
      ),
    ),
  );
}

const RUN = { action: 'run', words: 'Run now' } as const;
const REMOVE = { action: 'remove', words: 'Remove' } as const;
const ACTIONS = {
  on: [RUN, { action: 'pause', words: 'Pause' }, REMOVE],
  paused: [{ action: 'resume', words: 'Resume' }, REMOVE],
  over: [RUN, REMOVE],
} as const;

function standing({ state, waits, nextAt }: CronJob): string {
  if (state !== 'on') return state;
  if (waits !== '') return `waits, because ${waits}`;
  return nextAt === null ? 'never again' : `next ${momentOf(nextAt)}`;
}

function lastRun({ lastAt, lastOutcome, failures }: CronJob): string {
  if (lastAt === null) return 'It has not run yet.';
  const row = failures > 1 ? `, ${failures} times in a row` : '';
  return `Last run ${momentOf(lastAt)}: ${lastOutcome || 'under way'}${row}.`;
}
