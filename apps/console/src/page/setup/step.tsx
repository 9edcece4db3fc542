import type { SetupResult } from '@parley/gateway/api';
import type { InputOf } from '@parley/gateway/operations';
import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { performOperation } from '../gateway.ts';
import { useDataScope } from '../ui/data.tsx';

type StepName = `setup/${'try' | 'save'}-${'model' | 'channel'}` | 'setup/add-owner';

/** The request to the gateway: to test or to save these values. */
interface StepRequest<Name extends StepName> {
  readonly method: Name;
  readonly input: InputOf<Name>;
}

interface AnsweredStep<Name extends StepName> {
  readonly question: StepRequest<Name>;
  readonly answer: SetupResult;
}

/** The gateway's answer about these values; undefined if it answered about other values. */
export function findAnswerFor<Values>(
  answered: { readonly question: { readonly input: Values }; readonly answer: SetupResult } | null,
  values: Values,
): SetupResult | undefined {
  return answered !== null && hasSameValues(answered.question.input, values)
    ? answered.answer
    : undefined;
}

/** Whether two inputs have the same values in the same order. */
export function hasSameValues(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/**
 * Asks the gateway to test or save something. The answer is stored together with the question,
 * because other values may be typed before it arrives. `onSaved` is called after something was
 * saved.
 */
export function useStep<Name extends StepName>(onSaved?: () => void) {
  const [answered, setAnswered] = useState<AnsweredStep<Name> | null>(null);
  const [running, setRunning] = useState<Name | null>(null);
  const { refreshAll } = useDataScope();
  const take = async (question: StepRequest<Name>): Promise<void> => {
    setRunning(question.method);
    const outcome = await performOperation<StepName>(question.method, question.input);
    setRunning(null);
    const answer: SetupResult =
      outcome.kind === 'here'
        ? outcome.value
        : { kind: 'problem', reason: outcome.reason, fix: 'Try again.', models: null };
    setAnswered({ question, answer });
    if (answer.kind === 'done') onSaved?.();
    refreshAll();
  };
  const isTest = running === 'setup/try-model' || running === 'setup/try-channel';
  return { answered, isBusy: running !== null, isSaving: running !== null && !isTest, take };
}

export function SetupResultNote({ answer }: { readonly answer: SetupResult | undefined }): VNode {
  const isTrouble = answer?.kind === 'problem';
  return (
    <p class={isTrouble ? 'trouble' : 'outcome'} role="status" hidden={answer === undefined}>
      {isTrouble ? `${answer.reason} ${answer.fix}` : answer?.text}
    </p>
  );
}

/** A step's position among all steps. */
export interface StepPosition {
  readonly number: number;
  readonly isOpen: boolean;
  /** Opens the step, or closes it if a person opened it. */
  readonly onToggle: () => void;
}

interface StepProps {
  readonly place: StepPosition;
  readonly title: string;
  /** The step's result; null until it is finished. */
  readonly done: ComponentChildren | null;
  /** Whether the values are being saved and must not change until that is done. */
  readonly isSaving: boolean;
  readonly children: ComponentChildren;
}

/** One step, collapsed to a single line while another step is open. */
export function SetupStep({ place, title, done, isSaving, children }: StepProps): VNode {
  const { number, isOpen, onToggle } = place;
  const heading = useRef<HTMLHeadingElement>(null);
  const isDone = done !== null;
  const press = isOpen ? 'Close' : isDone ? 'Change' : 'Open';
  useEffect(() => {
    // The button that completed the previous step was removed, so the focus is lost.
    if (isOpen && document.activeElement === document.body) heading.current?.focus();
  }, [isOpen]);
  return (
    <section class="setup-step" aria-label={title}>
      <header class="row">
        <span class="hint" aria-hidden="true">
          {isDone ? '✓' : number}
        </span>
        <h3 ref={heading} tabIndex={-1}>
          {title}
        </h3>
        {isDone && <span class="facts grow">{done}</span>}
        {(isDone || !isOpen) && (
          <button
            type="button"
            class="quiet"
            aria-label={`${press}: ${title}`}
            aria-expanded={isOpen}
            onClick={onToggle}
          >
            {press}
          </button>
        )}
      </header>
      {isOpen && (
        <fieldset class="fields" disabled={isSaving}>
          {children}
        </fieldset>
      )}
    </section>
  );
}

interface ChooserProps {
  readonly label: string;
  /** Pairs of an id and a name. */
  readonly options: readonly (readonly [string, string])[];
  readonly value: string;
  /** Whether the choice is being tested or saved and must not change until that is done. */
  readonly isBusy: boolean;
  readonly onChoose: (id: string) => void;
}

export function OptionChooser({ label, options, value, isBusy, onChoose }: ChooserProps): VNode {
  return (
    <label class="hint">
      {label}
      <select
        class="field"
        value={value}
        disabled={isBusy}
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
  readonly hint?: string;
  readonly options?: readonly string[];
}

export function SetupField({
  label,
  value,
  onInput,
  isSecret = false,
  hint,
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
      {hint && <span class="hint">{hint}</span>}
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
