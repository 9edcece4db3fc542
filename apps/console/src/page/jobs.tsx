import type { CronAction } from '@parley/gateway/api';
import type { JobView } from '@parley/proactive';
import type { VNode } from 'preact';
import { act } from './gateway.ts';
import { useData, useWork } from './ui/data.tsx';
import { momentOf } from './ui/format.ts';
import { ActionButton, List, OutcomeNote, Said, Section, Show } from './ui/widgets.tsx';

/** Jobs with a timetable: next run, result of the last one, and what can be done (H08). */
export function JobSection(): VNode {
  const data = useData<{ readonly jobs: readonly JobView[] }>('/api/cron');
  const { outcome, run } = useWork();
  return (
    <Section title="Jobs" look="jobs">
      <OutcomeNote outcome={outcome} />
      <Show data={data}>
        {({ jobs }) =>
          jobs.length === 0 ? (
            <p>
              There are none. Ask the agent to remind you of something, or use "parley cron add".
            </p>
          ) : (
            <List look="cards" of={jobs}>
              {(job) => (
                <Job
                  key={job.id}
                  job={job}
                  onAct={(action) => run(() => act('/api/cron', 'POST', { action, id: job.id }))}
                />
              )}
            </List>
          )
        }
      </Show>
    </Section>
  );
}

/** A job. Its texts were written by people and models, and are shown as text. */
function Job({ job, onAct }: { job: JobView; onAct: (action: CronAction) => void }): VNode {
  const { id, title, task, when, chat, state } = job;
  return (
    <article class={`job is-${state}`}>
      <p>
        <b>{title}</b> {id}
      </p>
      <p>
        {when}; {stateText(job)}
      </p>
      <p class="facts">
        In {chat}. {lastRunText(job)}
      </p>
      {task !== title && <Said look="job-task">{task}</Said>}
      <p class="actions">
        {ACTIONS[state].map((action) => (
          <ActionButton
            key={action}
            label={LABELS[action]}
            name={`${LABELS[action]}: ${title}`}
            look={action === 'remove' ? 'is-grave' : ''}
            onPress={() => onAct(action)}
          />
        ))}
      </p>
    </article>
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
