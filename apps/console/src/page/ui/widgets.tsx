import type { ComponentChildren, Ref, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActionOutcome } from '../gateway.ts';
import { type LoadedData, useDataScope } from './data.tsx';
import type { OlderPage } from './growing.ts';
import { Icon, type IconName } from './icon.tsx';

interface ActionProps {
  readonly label: string;
  readonly onPress?: () => void;
  /** The name for screen readers, if several buttons have the same label. */
  readonly name?: string | undefined;
  /** `is-main` for the primary action, `is-grave` for an action that cannot be undone. */
  readonly look?: 'is-main' | 'is-grave' | '' | undefined;
  /** Whether the button is disabled for a reason other than the view's own work. */
  readonly isBusy?: boolean;
  /** Whether the button's content is expanded. */
  readonly isExpanded?: boolean;
  readonly slot?: Ref<HTMLButtonElement>;
  /** Whether the button submits its form. */
  readonly isSubmit?: boolean;
}

/** A button for an action on an item in a view. */
export function ActionButton(props: ActionProps): VNode {
  const { label, onPress, name, look = '', isBusy = false, isExpanded, slot, isSubmit } = props;
  const scope = useDataScope();
  return (
    <button
      type={isSubmit ? 'submit' : 'button'}
      class={`action ${look}`}
      aria-label={name}
      aria-expanded={isExpanded}
      disabled={isBusy || scope.isBusy.value}
      onClick={onPress}
      {...(slot && { ref: slot })}
    >
      {label}
    </button>
  );
}

/** A button that looks like part of the text around it. */
export function TextButton(
  props: Pick<ActionProps, 'label' | 'name' | 'onPress' | 'isExpanded'>,
): VNode {
  const { label, name, onPress, isExpanded } = props;
  return (
    <button
      type="button"
      class="text-button"
      aria-label={name}
      aria-expanded={isExpanded}
      onClick={onPress}
    >
      {label}
    </button>
  );
}

interface IconButtonProps {
  readonly icon: IconName;
  /** The button's name for screen readers, which is also its tooltip. */
  readonly label: string;
  readonly onPress: () => void;
}

/** A button with an icon. Its label is read by screen readers and shown as a tooltip. */
export function IconButton({ icon, label, onPress }: IconButtonProps): VNode {
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={onPress}>
      <Icon name={icon} />
    </button>
  );
}

interface ConfirmButtonProps extends ActionProps {
  /** Explains the risk; if absent, the action runs without confirmation. */
  readonly question?: string | undefined;
  readonly confirm: string;
}

/** A button that asks for confirmation before an action that cannot be undone. */
export function ConfirmButton({ question, confirm, ...action }: ConfirmButtonProps): VNode {
  const { look, onPress } = action;
  const [isAsked, setAsked] = useState(false);
  const start = useRef<HTMLButtonElement>(null);
  const cancel = useRef<HTMLButtonElement>(null);
  const wasAsked = useRef(false);
  useEffect(() => {
    // Keeps the keyboard focus on this button or on its question.
    if (wasAsked.current !== isAsked) (isAsked ? cancel : start).current?.focus();
    wasAsked.current = isAsked;
  }, [isAsked]);
  if (question === undefined) return <ActionButton {...action} />;
  if (!isAsked) return <ActionButton {...action} slot={start} onPress={() => setAsked(true)} />;
  const answer = (): void => {
    setAsked(false);
    onPress?.();
  };
  return (
    <span
      class="actions confirm"
      role="group"
      aria-label={question}
      onKeyDown={({ key }) => key === 'Escape' && setAsked(false)}
    >
      <span class="confirm-question">{question}</span>
      <ActionButton label={confirm} look={look} onPress={answer} />
      <ActionButton label="Cancel" slot={cancel} onPress={() => setAsked(false)} />
    </span>
  );
}

interface ProblemNoteProps {
  readonly reason: string | null;
  /** The action of the retry button. */
  readonly again?: (() => void) | false;
}

/** A problem, described for people; renders nothing if it is null. */
export function ProblemNote({ reason, again }: ProblemNoteProps): VNode | null {
  if (reason === null) return null;
  return (
    <p class="trouble" role="alert">
      {reason} {again && <TextButton label="Try again" onPress={again} />}
    </p>
  );
}

/**
 * A button that loads the next older page of a list, or the reason why that failed; nothing at the
 * end of the list.
 */
export function OlderButton({
  label,
  older,
}: {
  readonly label: string;
  readonly older: OlderPage | null;
}): VNode | null {
  if (older === null) return null;
  const { failure, isLoading, load } = older;
  if (failure !== null)
    return <ProblemNote reason={failure.reason} again={failure.retryable && load} />;
  return (
    <p class="actions">
      <button type="button" class="quiet" disabled={isLoading} onClick={load}>
        {label}
      </button>
    </p>
  );
}

/**
 * Shows data once it is loaded. While there is no data, shows that it is loading, or why loading
 * failed and what to do.
 */
export function DataContent<Value>(props: {
  readonly data: LoadedData<Value>;
  readonly children: (value: Value) => ComponentChildren;
}): VNode {
  const { value, failure } = props.data;
  const { refresh } = useDataScope();
  return (
    <>
      {failure && <ProblemNote reason={failure.reason} again={failure.retryable && refresh} />}
      {value !== undefined && props.children(value)}
      {value === undefined && !failure && (
        <p class="nothing" role="status">
          Loading…
        </p>
      )}
    </>
  );
}

/** Shows the outcome of an action, and makes screen readers announce it. */
export function OutcomeNote({ outcome }: { readonly outcome: ActionOutcome | undefined }): VNode {
  return (
    <p class={outcome?.isTrouble ? 'trouble' : 'outcome'} role="status" hidden={!outcome}>
      {outcome?.text}
    </p>
  );
}

/**
 * A paragraph, `blockquote` or `pre` written by a person or a model, shown as plain text in the
 * direction of its script.
 */
export function OutsideText(props: {
  readonly as?: 'p' | 'blockquote' | 'pre';
  readonly look?: string;
  readonly children: ComponentChildren;
}): VNode {
  const { as: Element = 'p', look, children } = props;
  return (
    // A long `pre` can be scrolled, including by keyboard.
    <Element class={look} dir="auto" {...(Element === 'pre' && { tabIndex: 0 })}>
      {children}
    </Element>
  );
}

/** A diff of lines: `-` removed, `+` added, ` ` unchanged. */
export function DiffLines({ lines }: { readonly lines: string }): VNode {
  const shown = lines === '' ? ['Nothing changes.'] : lines.split('\n');
  return (
    <OutsideText as="pre" look="layer-text diff">
      {shown.map((line, index) => {
        const Kind = line.startsWith('+') ? 'ins' : line.startsWith('-') ? 'del' : 'span';
        return <Kind key={index}>{`${line}\n`}</Kind>;
      })}
    </OutsideText>
  );
}

/** A list of elements created by `show`; they must have keys. */
export function List<Item>(props: {
  readonly look?: string;
  readonly of: readonly Item[];
  readonly children: (item: Item) => VNode;
}): VNode {
  const shown = props.of.map(props.children);
  return (
    <ul class={props.look ?? ''}>
      {shown.map((one) => (
        <li key={one.key}>{one}</li>
      ))}
    </ul>
  );
}

/** A section and its title, which is also its name for screen readers. */
export function Section(props: {
  readonly title: string;
  readonly look?: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <section class={props.look} aria-label={props.title}>
      <h3>{props.title}</h3>
      {props.children}
    </section>
  );
}

/** A form field and its label; `id` is the id of the field. */
export function LabeledField(props: {
  readonly label: string;
  readonly id: string;
  readonly hint?: string;
  readonly children: ComponentChildren;
}): VNode {
  return (
    <p>
      <label for={props.id}>{props.label}</label>
      {props.children}
      {props.hint && <span class="hint">{props.hint}</span>}
    </p>
  );
}
