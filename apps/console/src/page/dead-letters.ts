import type {
  DeadLetterList,
  DeadLetterOrder,
  DeadLetterOutcome,
  ShownDeadLetter,
} from '@parley/gateway/dead-letters';
import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { ask, type Outcome, useAnswer } from './gateway.ts';
import { counted, momentOf } from './ui/format.ts';
import {
  ActionButton,
  ConfirmButton,
  listOf,
  OutcomeNote,
  p,
  shown,
  Trouble,
  useWork,
} from './ui/widgets.ts';

type Kind = ShownDeadLetter['kind'];

/** Settles one dead letter, or all of these kinds. `evenTwice`: a part may arrive twice. */
interface Settling {
  readonly action: DeadLetterOrder['action'];
  readonly letters: number | readonly Kind[];
  readonly evenTwice: boolean;
}

/** Failed messages that wait for a decision (D06). `onSettled`: other lists may have changed. */
export function DeadLetterSection(props: {
  readonly round: number;
  readonly onSettled: () => void;
}): VNode {
  const [before, setBefore] = useState<number | null>(null);
  const { isBusy, outcome, run } = useWork(props.onSettled);
  const path = before === null ? '/api/dead?limit=20' : `/api/dead?limit=20&before=${before}`;
  const answer = useAnswer<DeadLetterList>(path, props.round);
  const settle = (settling: Settling): void => void run(() => settleDeadLetters(settling));
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

interface DeadLettersProps extends ActionProps {
  readonly list: DeadLetterList;
  readonly isFirst: boolean;
  /** Null: the newest. */
  readonly onPage: (before: number | null) => void;
}

function Letters({ list, isBusy, isFirst, settle, onPage }: DeadLettersProps): VNode {
  const { letters, counts, next } = list;
  if (counts.refused + counts.uncertain + counts.unanswered === 0) {
    return h('p', null, 'No failed messages.');
  }
  return h(
    'div',
    null,
    h(AllDeadLetters, { counts, isBusy, settle }),
    listOf('cards', letters, (letter) =>
      h(DeadLetterCard, { key: letter.id, letter, isBusy, settle }),
    ),
    p(
      'actions',
      !isFirst && h(ActionButton, { label: 'Newest', onPress: () => onPage(null) }),
      next !== null && h(ActionButton, { label: 'Older', onPress: () => onPage(next) }),
    ),
  );
}

/** Actions on all dead letters, where there are several. */
function AllDeadLetters({
  counts,
  isBusy,
  settle,
}: ActionProps & Pick<DeadLetterList, 'counts'>): VNode {
  const { refused, uncertain, unanswered } = counts;
  const certain = refused + unanswered;
  const all = certain + uncertain;
  const spared = uncertain > 0 ? ' What may have arrived is not sent again.' : '';
  return h(
    'div',
    { class: 'actions' },
    p('facts', `${refused} not delivered, ${uncertain} perhaps, ${unanswered} not answered.`),
    certain > 1 &&
      h(ConfirmButton, {
        label: 'Send all again',
        question: `${certain} dead letters are sent again.${spared}`,
        confirm: `Send ${certain} again`,
        isBusy,
        onPress: () =>
          settle({ action: 'replay', letters: ['refused', 'unanswered'], evenTwice: false }),
      }),
    all > 1 &&
      h(ConfirmButton, {
        label: 'Drop all',
        look: 'is-grave',
        question: `${all} dead letters are never sent and never listed again.`,
        confirm: `Drop ${all}`,
        isBusy,
        onPress: () => settle({ action: 'drop', letters: ALL, evenTwice: false }),
      }),
  );
}

const ALL = ['refused', 'uncertain', 'unanswered'] as const;

const KINDS: Readonly<Record<Kind, string>> = {
  refused: 'Not delivered',
  uncertain: 'Perhaps delivered',
  unanswered: 'Not answered',
};

interface DeadLetterProps extends ActionProps {
  readonly letter: ShownDeadLetter;
}

/** One dead letter. Its texts were written by people and models, and are shown as text. */
function DeadLetterCard({ letter, isBusy, settle }: DeadLetterProps): VNode {
  const { id, kind, chat, diedAt, reason } = letter;
  const [isWhole, setWhole] = useState(false);
  const path = isWhole ? `/api/dead/${id}` : null;
  const answer = useAnswer<{ readonly letter: ShownDeadLetter | null }>(path);
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
      p('facts', `${id} · ${momentOf(diedAt)}`),
    ),
    reason !== '' && h('p', { class: 'card-reason', dir: 'auto' }, reason),
    textsOf(whole ?? letter).map(({ from, text }, index) =>
      h(
        'blockquote',
        { key: index, class: 'said', dir: 'auto' },
        from !== '' && h('b', null, `${from}: `),
        text,
      ),
    ),
    facts !== '' && p('facts', facts),
    h(Trouble, { reason: answer.kind === 'failed' ? answer.reason : null }),
    p(
      'actions',
      h(DeadLetterActions, { letter, isBusy, settle }),
      isCut(letter) &&
        h(ActionButton, {
          label: isWhole ? 'Show less' : 'Show all',
          isExpanded: isWhole,
          onPress: () => setWhole(!isWhole),
        }),
    ),
  );
}

function DeadLetterActions(props: DeadLetterProps): VNode {
  const { letter, isBusy, settle } = props;
  const { id, kind } = letter;
  const again = kind === 'unanswered' ? 'Ask again' : 'Send again';
  const settleThis = (action: Settling['action']) => () =>
    settle({ action, letters: id, evenTwice: action === 'replay' && kind === 'uncertain' });
  return h(
    'span',
    { class: 'actions' },
    h(ConfirmButton, {
      label: again,
      name: `${again}: ${id}`,
      question: riskOf(letter),
      confirm: `${again} anyway`,
      isBusy,
      onPress: settleThis('replay'),
    }),
    h(ConfirmButton, {
      label: 'Drop',
      name: `Drop: ${id}`,
      look: 'is-grave',
      question: 'It is then never sent and never listed again.',
      confirm: 'Drop it',
      isBusy,
      onPress: settleThis('drop'),
    }),
  );
}

/** The texts of a dead letter; `from` is empty for a message of Parley. */
function textsOf(letter: ShownDeadLetter) {
  return letter.kind === 'unanswered' ? letter.messages : [{ from: '', text: letter.text }];
}

/** Whether there is more than the list shows. */
export function isCut(letter: ShownDeadLetter): boolean {
  const texts = textsOf(letter);
  const isLess = letter.kind === 'unanswered' && letter.count > texts.length;
  return isLess || texts.some(({ text }) => text.endsWith('…'));
}

/** The risk of a second time. */
function riskOf(letter: ShownDeadLetter): string | undefined {
  if (letter.kind === 'uncertain') return 'It may have arrived. Then it comes twice.';
  return letter.kind === 'unanswered' && letter.steps > 0
    ? 'What its tools did is done, and may be done again.'
    : undefined;
}

function factsOf(letter: ShownDeadLetter): string {
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

/** Asks the gateway until all dead letters are settled. Never rejects. */
async function settleDeadLetters({ action, letters, evenTwice }: Settling): Promise<Outcome> {
  let done = 0;
  let after: number | null = 0;
  while (after !== null) {
    const order: object = {
      action,
      letters: typeof letters === 'number' ? [letters] : { after, kinds: letters },
      evenTwice,
    };
    const answer = await ask<DeadLetterOutcome>('/api/dead', order);
    if (answer.kind === 'failed') return { text: answer.reason, isTrouble: true };
    done += answer.value.results.filter(({ result }) => result === DONE[action]).length;
    after = answer.value.next;
  }
  if (done === 0) return { text: 'That was settled already.', isTrouble: false };
  const what = done === 1 ? 'It is' : `${done} are`;
  const end = action === 'replay' ? 'on the way again' : 'dropped';
  return { text: `${what} ${end}.`, isTrouble: false };
}
