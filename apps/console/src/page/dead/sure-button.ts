import { h, type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useElement } from '../ui/use-element.ts';

interface SureButtonProps {
  readonly words: string;
  /** What a screen reader says instead, where many buttons have the same words. */
  readonly label?: string;
  readonly looks: 'usual' | 'grave';
  /** What to think of before; absent: it is done at once. */
  readonly question?: string | undefined;
  /** What says yes to the question. */
  readonly yes?: string;
  readonly isBusy: boolean;
  readonly onSure: () => void;
}

/** A button that asks back before it does what cannot be taken back. */
export function SureButton(props: SureButtonProps): VNode {
  const { words, label, looks, question, yes = words, isBusy, onSure } = props;
  const [isAsked, setAsked] = useState(false);
  const ask = useElement(HTMLButtonElement);
  const leave = useElement(HTMLButtonElement);
  const wasAsked = useRef(false);
  useEffect(() => {
    // Whoever works by keyboard stays where they were.
    if (wasAsked.current !== isAsked) (isAsked ? leave : ask).current?.focus();
    wasAsked.current = isAsked;
  }, [isAsked]);
  const look = `soul-button ${looks === 'grave' ? 'does-veto' : ''}`;
  if (question === undefined || !isAsked) {
    const press = question === undefined ? onSure : () => setAsked(true);
    const name = { 'aria-label': label ?? words, disabled: isBusy, onClick: press };
    return h('button', { ref: ask.ref, type: 'button', class: look, ...name }, words);
  }
  const sure = (): void => {
    setAsked(false);
    onSure();
  };
  return h(
    'span',
    {
      class: 'sure',
      role: 'group',
      'aria-label': question,
      onKeyDown: (event: KeyboardEvent) => event.key === 'Escape' && setAsked(false),
    },
    h('span', { class: 'sure-question' }, question),
    h('button', { type: 'button', class: look, disabled: isBusy, onClick: sure }, yes),
    h(
      'button',
      { ref: leave.ref, type: 'button', class: 'soul-button', onClick: () => setAsked(false) },
      'Leave it',
    ),
  );
}
