import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useRowAgents } from './agents.tsx';
import { runOperation } from './gateway.ts';
import { JobForm, type NewJob } from './job-form.tsx';
import { useActionRunner, useOperation } from './ui/data.tsx';
import { formatMoment } from './ui/format.ts';
import { ColumnView } from './ui/frames.tsx';
import {
  ActionButton,
  ConfirmButton,
  DataContent,
  List,
  OutcomeNote,
  OutsideText,
} from './ui/widgets.tsx';

type ListedJob = OutputOf<'cron/list'>['jobs'][number];
type JobAction = 'pause' | 'resume' | 'remove' | 'run';

/** How often the jobs are requested, in ms, because they run on their own. */
const POLL_INTERVAL_MS = 15_000;

/** Scheduled jobs: their tasks, next and last runs, and a form to create and change them (H08). */
export function JobsView(): VNode {
  const data = useOperation('cron/list', {}, POLL_INTERVAL_MS);
  const { outcome, run } = useActionRunner();
  /** The job whose form is open; empty for a new job. */
  const [edited, setEdited] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const { isShown } = useRowAgents();
  const open = (id: string | null): void => {
    setProblem(null);
    setEdited(id);
  };
  const save = (job: NewJob, id: string | undefined): void =>
    run(async () => {
      const done =
        id === undefined
          ? await runOperation('cron/add', job, ({ text }) => text)
          : await runOperation('cron/change', { ...job, id }, ({ text }) => text);
      setProblem(done?.isTrouble ? done.text : null);
      if (done?.isTrouble) return undefined;
      open(null);
      return done;
    });
  const form = { problem, save, cancel: () => open(null) };
  return (
    <ColumnView name="jobs-view" title="Jobs">
      <OutcomeNote outcome={outcome} />
      <DataContent data={data}>
        {({ jobs, chats }) => {
          const shown = jobs.filter((job) => isShown(agentPrefix(job)));
          return (
            <>
              {edited === '' ? (
                <JobForm {...form} chats={chats} />
              ) : (
                <p class="actions">
                  <ActionButton label="New job" onPress={() => open('')} />
                </p>
              )}
              {shown.length === 0 && (
                <p class="facts">
                  No jobs yet. Add one here, or ask the agent to remind you of something.
                </p>
              )}
              <List look="cards" of={shown}>
                {(job) =>
                  edited === job.id ? (
                    <JobForm key={job.id} {...form} chats={chats} job={job} />
                  ) : (
                    <JobCard
                      key={job.id}
                      job={job}
                      onAct={(action) => run(() => runOperation(`cron/${action}`, { id: job.id }))}
                      onChange={() => open(job.id)}
                    />
                  )
                }
              </List>
            </>
          );
        }}
      </DataContent>
    </ColumnView>
  );
}

/** The prefix of conversation ids for jobs. */
const agentPrefix = ({ agent }: ListedJob): string => (agent === undefined ? '' : `@${agent}/`);

interface JobProps {
  readonly job: ListedJob;
  readonly onAct: (action: JobAction) => void;
  readonly onChange: () => void;
}

/** The text in a job comes from people and models, so it is shown as plain text. */
function JobCard({ job, onAct, onChange }: JobProps): VNode {
  const { id, title, task, when, chatTitle, state } = job;
  const agent = useRowAgents().titleOf(agentPrefix(job));
  return (
    <article class={`card job is-${state}`} aria-label={title}>
      <header>
        <h4>{title}</h4>
        <span class="hint">
          {id}
          {agent !== null && ` · ${agent}`}
        </span>
      </header>
      {task !== title && <OutsideText look="as-typed">{task}</OutsideText>}
      <p>
        {when}; {describeJobState(job)}
      </p>
      <p class="facts">
        In {chatTitle}. {describeLastRun(job)}
      </p>
      <div class="actions">
        {ACTIONS[state].map((action) => (
          <ActionButton
            key={action}
            label={LABELS[action]}
            name={`${LABELS[action]}: ${title}`}
            onPress={() => onAct(action)}
          />
        ))}
        <ActionButton label="Change" name={`Change: ${title}`} onPress={onChange} />
        <ConfirmButton
          label="Remove"
          name={`Remove: ${title}`}
          look="is-grave"
          question="The job stops and cannot be restored."
          confirm="Remove it"
          onPress={() => onAct('remove')}
        />
      </div>
    </article>
  );
}

const LABELS = { run: 'Run now', pause: 'Pause', resume: 'Resume' } as const;
const ACTIONS: Readonly<Record<ListedJob['state'], readonly (keyof typeof LABELS)[]>> = {
  on: ['run', 'pause'],
  paused: ['resume'],
  over: ['run'],
};

function describeJobState({ state, waits, next }: ListedJob): string {
  if (state !== 'on') return state;
  if (waits !== null) return `waiting, because ${waits}`;
  return next.length === 0 ? 'no more runs' : `next ${next.map(formatMoment).join('; ')}`;
}

function describeLastRun({ lastAt, lastOutcome, failures }: ListedJob): string {
  if (lastAt === null) return 'Not run yet.';
  const row = failures > 1 ? `, ${failures} times in a row` : '';
  return `Last run ${formatMoment(lastAt)}: ${lastOutcome ?? 'running'}${row}.`;
}
