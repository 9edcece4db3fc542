import type { OutputOf } from '@parley/gateway/operations';
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ActionButton, LabeledField, ProblemNote } from './ui/widgets.tsx';

/** A hook as stored in the settings, without its token. */
export interface NewHook {
  readonly name: string;
  readonly action: OutputOf<'hooks/list'>['hooks'][number]['action'];
  readonly instruction: string;
  readonly task: string;
  readonly target: string;
  readonly signature: boolean;
}

interface FormProps {
  readonly problem: string | null;
  readonly save: (hook: NewHook) => void;
  readonly cancel: () => void;
}

const EMPTY: NewHook = {
  ...{ name: '', action: 'job', instruction: '', task: '', target: '' },
  signature: false,
};

/** Creates a hook. The limits and fields of a hook can be changed only in the settings. */
export function HookForm({ problem, save, cancel }: FormProps): VNode {
  const [draft, setDraft] = useState(EMPTY);
  const text = (name: 'name' | 'instruction' | 'task' | 'target') => ({
    id: `hook-${name}`,
    class: 'field',
    value: draft[name],
    onInput: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) =>
      setDraft({ ...draft, [name]: currentTarget.value }),
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    save(draft);
  };
  return (
    <form class="card fields" aria-label="New hook" onSubmit={submit}>
      <LabeledField label="Name (used in the URL)" id="hook-name">
        <input {...text('name')} required pattern="[a-z0-9][a-z0-9_\-]{0,39}" placeholder="ci" />
      </LabeledField>
      <LabeledField label="When an event arrives" id="hook-does">
        <select
          id="hook-does"
          class="field"
          value={draft.action}
          onChange={({ currentTarget: { value } }) =>
            setDraft({ ...draft, action: value === 'job' ? 'job' : 'heartbeat' })
          }
        >
          <option value="job">Follow the instructions below</option>
          <option value="heartbeat">Run a standing task</option>
        </select>
      </LabeledField>
      {draft.action === 'job' ? (
        <>
          <LabeledField label="Instructions for the agent" id="hook-instruction">
            <textarea {...text('instruction')} rows={3} required maxLength={8_000} />
          </LabeledField>
          <LabeledField
            label="Send the answer to"
            id="hook-target"
            hint="For example telegram:123456789, telegram:-100123, or a named chat"
          >
            <input {...text('target')} placeholder="The chat you used last" />
          </LabeledField>
        </>
      ) : (
        <LabeledField label="Standing task" id="hook-task">
          <input {...text('task')} placeholder="The most overdue task" />
        </LabeledField>
      )}
      <p>
        <label>
          <input
            type="checkbox"
            checked={draft.signature}
            onChange={({ currentTarget: { checked } }) =>
              setDraft({ ...draft, signature: checked })
            }
          />{' '}
          The sender signs its requests with the token, like GitHub
        </label>
      </p>
      <ProblemNote reason={problem} />
      <div class="actions">
        <ActionButton label="Add" look="is-main" isSubmit />
        <ActionButton label="Cancel" onPress={cancel} />
      </div>
    </form>
  );
}
