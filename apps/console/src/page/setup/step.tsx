import type { SetupAnswer } from '@parley/gateway/api';
import type { InputOf } from '@parley/gateway/operations';
import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { perform } from '../gateway.ts';
import { useScope } from '../ui/data.tsx';

type StepName = `setup/${'try' | 'save'}-${'model' | 'channel'}` | 'setup/add-owner';

/** Asks the gateway to try or to save something, and keeps what came of it. */
export function useStep() {
  const [answer, setAnswer] = useState<SetupAnswer | undefined>();
  const [isBusy, setBusy] = useState(false);
  const { refreshAll } = useScope();
  const take = async <Name extends StepName>(name: Name, input: InputOf<Name>): Promise<void> => {
    setBusy(true);
    const outcome = await perform<StepName>(name, input);
    setBusy(false);
    setAnswer(
      outcome.kind === 'here'
        ? outcome.value
        : { kind: 'problem', reason: outcome.reason, fix: 'Try it again.', models: null },
    );
    refreshAll();
  };
  const forget = (): void => setAnswer(undefined);
  return { answer, isBusy, take, forget };
}

export function AnswerNote({ answer }: { readonly answer: SetupAnswer | undefined }): VNode {
  const isTrouble = answer?.kind === 'problem';
  return (
    <p class={isTrouble ? 'trouble' : 'outcome'} role="status" hidden={answer === undefined}>
      {isTrouble ? `${answer.reason} ${answer.fix}` : answer?.text}
    </p>
  );
}

interface StepProps {
  readonly title: string;
  /** The existing result of the step; null: none. */
  readonly done: string | null;
  readonly children: ComponentChildren;
}

export function Step({ title, done, children }: StepProps): VNode {
  return (
    <section class="card setup-step" aria-label={title}>
      <h3>{title}</h3>
      {done !== null && <p class="facts">{done}</p>}
      {children}
    </section>
  );
}

interface ChooserProps {
  readonly label: string;
  /** Each by its id and its name. */
  readonly options: readonly (readonly [string, string])[];
  readonly value: string;
  readonly onChoose: (id: string) => void;
}

export function Chooser({ label, options, value, onChoose }: ChooserProps): VNode {
  return (
    <label class="hint">
      {label}
      <select
        class="field"
        value={value}
        onChange={({ currentTarget }) => onChoose(currentTarget.value)}
      >
        {options.map(([id, name]) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

interface FieldProps {
  readonly label: string;
  readonly value: string;
  readonly onInput: (value: string) => void;
  readonly isSecret?: boolean;
  readonly options?: readonly string[];
}

export function Field({
  label,
  value,
  onInput,
  isSecret = false,
  options = [],
}: FieldProps): VNode {
  const list = `${label.replaceAll(' ', '-')}-options`;
  return (
    <label class="hint">
      {label}
      <input
        class="field"
        type={isSecret ? 'password' : 'text'}
        autoComplete="off"
        value={value}
        list={options.length > 0 ? list : undefined}
        onInput={({ currentTarget }) => onInput(currentTarget.value)}
      />
      {options.length > 0 && (
        <datalist id={list}>
          {options.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  );
}
