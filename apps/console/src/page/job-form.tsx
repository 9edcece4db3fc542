import type { InputOf, OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ActionButton, LabeledField, ProblemNote } from './ui/widgets.tsx';

export type NewJob = InputOf<'cron/add'>;
type Jobs = OutputOf<'cron/list'>;
type ListedJob = Jobs['jobs'][number];

interface FormProps {
  /** The job to change; absent for a new job. */
  readonly job?: ListedJob;
  readonly chats: Jobs['chats'];
  readonly problem: string | null;
  /** Saves the job; `id` names an existing job. */
  readonly save: (job: NewJob, id: string | undefined) => void;
  readonly cancel: () => void;
}

const TIMES = {
  at: { label: 'Once', example: '2026-11-22 09:00, 18:30, tomorrow 9:00, in 20 min' },
  every: { label: 'Repeats', example: '30 min, 2 h, daily at 8:00' },
  cron: { label: 'Cron expression', example: '0 9 * * mon-fri' },
} as const;
type TimeKind = keyof typeof TIMES;
const KINDS: readonly TimeKind[] = ['at', 'every', 'cron'];

interface JobDraft {
  readonly title: string;
  readonly task: string;
  readonly kind: TimeKind;
  readonly time: string;
  readonly timeZone: string;
  /** `json` or a JSON Schema; empty for plain text answers. */
  readonly format: string;
  /**
   * The job's target chat; if empty, a new job uses the owner's chat, and an existing job keeps its
   * chat.
   */
  readonly to: string;
}

/** Creates a job, or changes an existing job completely. */
export function JobForm({ job, chats, problem, save, cancel }: FormProps): VNode {
  const before = toJobDraft(job);
  const [draft, setDraft] = useState(before);
  const type = (change: Partial<JobDraft>): void => setDraft({ ...draft, ...change });
  const text = (name: Exclude<keyof JobDraft, 'kind'>) => ({
    id: `job-${name}`,
    class: 'field',
    value: draft[name],
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      type({ [name]: currentTarget.value }),
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    save(listChanges(before, draft), job?.id);
  };
  return (
    <form class="card fields" aria-label={job?.title ?? 'New job'} onSubmit={submit}>
      <LabeledField label="What should the agent do?" id="job-task">
        <textarea {...text('task')} rows={3} required maxLength={4_000} />
      </LabeledField>
      <LabeledField label="Title" id="job-title">
        <input {...text('title')} maxLength={80} placeholder="First words of the task" />
      </LabeledField>
      <LabeledField label="When" id="job-kind">
        <select
          id="job-kind"
          class="field"
          value={draft.kind}
          onChange={({ currentTarget: { value } }) =>
            type({ kind: KINDS.find((kind) => kind === value) ?? draft.kind, time: '' })
          }
        >
          {KINDS.map((kind) => (
            <option key={kind} value={kind}>
              {TIMES[kind].label}
            </option>
          ))}
        </select>
      </LabeledField>
      <LabeledField label="Time" id="job-time" hint={`Such as ${TIMES[draft.kind].example}`}>
        <input {...text('time')} required />
      </LabeledField>
      <LabeledField label="Time zone" id="job-timeZone">
        <input {...text('timeZone')} list="time-zones" placeholder="Same as the agent's" />
      </LabeledField>
      <datalist id="time-zones">
        {Intl.supportedValuesOf('timeZone').map((zone) => (
          <option key={zone} value={zone} />
        ))}
      </datalist>
      <LabeledField label="Chat" id="job-to">
        <select {...text('to')} onChange={({ currentTarget: { value } }) => type({ to: value })}>
          <option value="">{job?.chatTitle ?? 'The chat you used last'}</option>
          {chats
            .filter(({ to }) => to !== job?.chat)
            .map(({ to, name }) => (
              <option key={to} value={to}>
                {name}
              </option>
            ))}
        </select>
      </LabeledField>
      <LabeledField
        label="Response format"
        id="job-format"
        hint="For programs: json or a JSON Schema"
      >
        <textarea {...text('format')} rows={2} maxLength={32_000} placeholder="Plain text" />
      </LabeledField>
      <ProblemNote reason={problem} />
      <div class="actions">
        <ActionButton label={job === undefined ? 'Add' : 'Save'} look="is-main" isSubmit />
        <ActionButton label="Cancel" onPress={cancel} />
      </div>
    </form>
  );
}

function toJobDraft(job: ListedJob | undefined): JobDraft {
  const { title = '', task = '', written = {} } = job ?? {};
  const kind = KINDS.find((one) => written[one] !== undefined) ?? 'at';
  const time = written[kind] ?? '';
  const { timeZone = '', format = '' } = written;
  return { title, task, kind, time, timeZone, format, to: '' };
}

/** Contains only the changed fields, because writing an unchanged schedule would restart it. */
function listChanges(before: JobDraft, draft: JobDraft): NewJob {
  const { title, task, kind, time, timeZone, format, to } = draft;
  const isOtherTime = (['kind', 'time', 'timeZone'] as const).some(
    (name) => draft[name] !== before[name],
  );
  const fields = {
    ...(title !== before.title && { title }),
    ...(task !== before.task && { task }),
    ...(format !== before.format && { format }),
    ...(isOtherTime && { [kind]: time, ...(timeZone.trim() !== '' && { timeZone }) }),
  };
  return { fields, ...(to !== '' && { to }) };
}
