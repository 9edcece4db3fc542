import type { DeadList, DeadOrder, DeadOutcome, ShownLetter } from '@parley/gateway/dead-letters';
import { h, type VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { ask, useAnswer } from './gateway.ts';
import { useElement } from './ui/elements.ts';
import { counted, momentOf } from './ui/format.ts';
import { ActionButton, type Outcome, OutcomeNote, shown, Trouble } from './ui/widgets.ts';

type Kind = ShownLetter['kind'];

/** What is to be done with one letter, or all of these kinds. `evenTwice`: one may arrive twice. */
interface Settling {
  readonly action: DeadOrder['action'];
  readonly letters: number | readonly Kind[];
  readonly evenTwice: boolean;
}

/** Failed messages that wait for a decision (D06). `onSettled`: other lists may have changed. */
export function DeadSection(props: {
  readonly round: number;
  readonly onSettled: () => void;
}): VNode {
  const [before, setBefore] = useState<number | null>(null);
  const [outcome, setOutcome] = useState<Outcome>();
  const [isBusy, setBusy] = useState(false);
  const path = before === null ? '/api/dead?limit=20' : `/api/dead?limit=20&before=${before}`;
  const answer = useAnswer<DeadList>(path, props.round);
  const settle = async (settling: Settling): Promise<void> => {
    setBusy(true);
    setOutcome(undefined);
    setOutcome(await settleLetters(settling));
    setBusy(false);
    props.onSettled();
  };
  return h(
    'section',
    { class: 'dead', 'aria-label': 'Dead letters' },
    h('h3', null, 'Dead letters'),
    h(OutcomeNote, { outcome }),
    shown(answer, (list) =>
      h(Letters, { list, isBusy, isFirst: before === null, settle, onPage: setBefore }),
    ),
  );
}

interface ActionProps {
  readonly isBusy: boolean;
  readonly settle: (settling: Settling) => void;
}

interface LettersProps extends ActionProps {
  readonly list: DeadList;
  readonly isFirst: boolean;
  /** Null: the newest. */
  readonly onPage: (before: number | null) => void;
}

function Letters({ list, isBusy, isFirst, settle, onPage }: LettersProps): VNode {
  const { letters, counts, next } = list;
  if (counts.refused + counts.uncertain + counts.unanswered === 0) {
    return h('p', null, 'No failed messages.');
  }
  return h(
    'div',
    null,
    h(AllLetters, { counts, isBusy, settle }),
    h(
      'ul',
      { class: 'cards' },
      letters.map((letter) => h('li', { key: letter.id }, h(Letter, { letter, isBusy, settle }))),
    ),
    h(
      'p',
      { class: 'actions' },
      !isFirst && h(ActionButton, { label: 'Newest', onPress: () => onPage(null) }),
      next !== null && h(ActionButton, { label: 'Older', onPress: () => onPage(next) }),
    ),
  );
}

/** Actions on all letters, where there are several. */
function AllLetters({ counts, isBusy, settle }: ActionProps & Pick<DeadList, 'counts'>): VNode {
  const { refused, uncertain, unanswered } = counts;
  const certain = refused + unanswered;
  const all = certain + uncertain;
  const spared = uncertain > 0 ? ' What may have arrived is not sent again.' : '';
  return h(
    'div',
    { class: 'dead-all' },
    h(
      'p',
      { class: 'facts' },
      `${refused} not delivered, ${uncertain} perhaps, ${unanswered} not answered.`,
    ),
    certain > 1 &&
      h(ConfirmButton, {
        label: 'Send all again',
        question: `${certain} letters are sent again.${spared}`,
        confirm: `Send ${certain} again`,
        isBusy,
        onConfirm: () =>
          settle({ action: 'replay', letters: ['refused', 'unanswered'], evenTwice: false }),
      }),
    all > 1 &&
      h(ConfirmButton, {
        label: 'Drop all',
        isGrave: true,
        question: `${all} letters are never sent and never listed again.`,
        confirm: `Drop ${all}`,
        isBusy,
        onConfirm: () =>
          settle({
            action: 'drop',
            letters: ['refused', 'uncertain', 'unanswered'],
            evenTwice: false,
          }),
      }),
  );
}

const KINDS: Readonly<Record<Kind, string>> = {
  refused: 'Not delivered',
  uncertain: 'Perhaps delivered',
  unanswered: 'Not answered',
};

/** One dead letter. Its texts were written by people and models, and are shown as text. */
function Letter({ letter, isBusy, settle }: ActionProps & { readonly letter: ShownLetter }): VNode {
  const { id, kind, chat, diedAt, reason } = letter;
  const [isWhole, setWhole] = useState(false);
  const path = isWhole ? `/api/dead/${id}` : null;
  const answer = useAnswer<{ readonly letter: ShownLetter | null }>(path);
  const whole = answer.kind === 'here' ? answer.value.letter : null;
  const name = `letter-${id}`;
  const facts = factsOf(letter);
  return h(
    'article',
    { class: `card is-${kind}`, 'aria-labelledby': name },
    h(
      'header',
      null,
      h('h4', { id: name }, h('span', { class: 'card-kind' }, KINDS[kind]), ` ${chat}`),
      h('p', { class: 'facts' }, `${id} · ${momentOf(diedAt)}`),
    ),
    reason !== '' && h('p', { class: 'card-reason', dir: 'auto' }, reason),
    textsOf(whole ?? letter).map(({ from, text }, index) =>
      h('blockquote', { key: index, dir: 'auto' }, from !== '' && h('b', null, `${from}: `), text),
    ),
    facts !== '' && h('p', { class: 'facts' }, facts),
    h(Trouble, { reason: answer.kind === 'failed' ? answer.reason : null }),
    h(
      'p',
      { class: 'actions' },
      h(LetterActions, { letter, isBusy, settle }),
      isCut(letter) &&
        h(
          'button',
          {
            type: 'button',
            class: 'action',
            'aria-expanded': isWhole,
            onClick: () => setWhole(!isWhole),
          },
          isWhole ? 'Show less' : 'Show all',
        ),
    ),
  );
}

function LetterActions({
  letter,
  isBusy,
  settle,
}: ActionProps & { readonly letter: ShownLetter }): VNode {
  const { id, kind } = letter;
  const again = kind === 'unanswered' ? 'Ask again' : 'Send again';
  const settleThis = (action: Settling['action']) => () =>
    settle({ action, letters: id, evenTwice: action === 'replay' && kind === 'uncertain' });
  return h(
    'span',
    { class: 'card-actions' },
    h(ConfirmButton, {
      label: again,
      name: `${again}: ${id}`,
      question: riskOf(letter),
      confirm: `${again} anyway`,
      isBusy,
      onConfirm: settleThis('replay'),
    }),
    h(ConfirmButton, {
      label: 'Drop',
      name: `Drop: ${id}`,
      isGrave: true,
      question: 'It is then never sent and never listed again.',
      confirm: 'Drop it',
      isBusy,
      onConfirm: settleThis('drop'),
    }),
  );
}

/** The texts of a letter; `from` is empty for what Parley was to send. */
function textsOf(letter: ShownLetter) {
  return letter.kind === 'unanswered' ? letter.messages : [{ from: '', text: letter.text }];
}

/** Whether there is more than the list shows. */
export function isCut(letter: ShownLetter): boolean {
  const texts = textsOf(letter);
  const isLess = letter.kind === 'unanswered' && letter.count > texts.length;
  return isLess || texts.some(({ text }) => text.endsWith('…'));
}

/** The risk of a second time. */
function riskOf(letter: ShownLetter): string | undefined {
  if (letter.kind === 'uncertain') return 'It may have arrived. Then it comes twice.';
  return letter.kind === 'unanswered' && letter.steps > 0
    ? 'What its tools did is done, and may be done again.'
    : undefined;
}

function factsOf(letter: ShownLetter): string {
  if (letter.kind === 'unanswered') {
    return letter.steps > 0 ? `Its turn had done ${counted(letter.steps, 'step')}.` : '';
  }
  const { part, file } = letter;
  const facts = [
    ...(part === null ? [] : [`Part ${part} of an answer.`]),
    ...(file === '' ? [] : [`With the file ${file}.`]),
  ];
  return facts.join(' ');
}

const DONE = { replay: 'replayed', drop: 'dropped' } as const;

/** Asks the gateway until all letters are settled. Never rejects. */
async function settleLetters({ action, letters, evenTwice }: Settling): Promise<Outcome> {
  let done = 0;
  let after: number | null = 0;
  while (after !== null) {
    const order: object = {
      action,
      letters: typeof letters === 'number' ? [letters] : { after, kinds: letters },
      evenTwice,
    };
    const answer = await ask<DeadOutcome>('/api/dead', order);
    if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
    done += answer.value.results.filter(({ result }) => result === DONE[action]).length;
    after = answer.value.next;
  }
  if (done === 0) return { text: 'That was settled already.', isTrouble: false };
  const what = done === 1 ? 'It is' : `${done} are`;
  const end = action === 'replay' ? 'on the way again' : 'dropped';
  return { text: `${what} ${end}.`, isTrouble: false };
}

interface ConfirmButtonProps {
  readonly label: string;
  /** What a screen reader says instead, where several buttons have the same label. */
  readonly name?: string;
  readonly isGrave?: boolean;
  /** The risk; absent: it is done at once. */
  readonly question?: string | undefined;
  readonly confirm: string;
  readonly isBusy: boolean;
  readonly onConfirm: () => void;
}

/** A button that asks for confirmation before it does what cannot be undone. */
function ConfirmButton(props: ConfirmButtonProps): VNode {
  const { label, name = label, isGrave = false, question, confirm, isBusy, onConfirm } = props;
  const [isAsked, setAsked] = useState(false);
  const start = useElement(HTMLButtonElement);
  const cancel = useElement(HTMLButtonElement);
  const wasAsked = useRef(false);
  useEffect(() => {
    // The keyboard focus stays on this button or its question.
    if (wasAsked.current !== isAsked) (isAsked ? cancel : start).current?.focus();
    wasAsked.current = isAsked;
  }, [isAsked]);
  const look = `action ${isGrave ? 'is-grave' : ''}`;
  if (question === undefined || !isAsked) {
    const onClick = question === undefined ? onConfirm : () => setAsked(true);
    const properties = { 'aria-label': name, disabled: isBusy, onClick };
    return h('button', { ref: start.ref, type: 'button', class: look, ...properties }, label);
  }
  const onClick = (): void => {
    setAsked(false);
    onConfirm();
  };
  return h(
    'span',
    {
      class: 'confirm',
      role: 'group',
      'aria-label': question,
      onKeyDown: (event: KeyboardEvent) => event.key === 'Escape' && setAsked(false),
    },
    h('span', { class: 'confirm-question' }, question),
    h('button', { type: 'button', class: look, disabled: isBusy, onClick }, confirm),
    h(
      'button',
      { ref: cancel.ref, type: 'button', class: 'action', onClick: () => setAsked(false) },
      'Cancel',
    ),
  );
}
