import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useAnswer } from '../prompt/use-answer.ts';
import { momentOf } from '../ui/moment.ts';
import { type DeadKind, type DeadLetter, readWholeLetter } from './read-dead.ts';
import type { LetterWish } from './settle-letters.ts';
import { SureButton } from './sure-button.ts';

interface LetterCardProps {
  readonly letter: DeadLetter;
  readonly isBusy: boolean;
  readonly onWish: (wish: LetterWish) => void;
}

const KINDS: Readonly<Record<DeadKind, string>> = {
  refused: 'Not delivered',
  uncertain: 'Perhaps delivered',
  unanswered: 'Not answered',
};

/** One dead letter, and what can be done about it. Every text is shown as text. */
export function LetterCard({ letter, isBusy, onWish }: LetterCardProps): VNode {
  const { id, kind, chat, diedAt, reason } = letter;
  const [isWhole, setWhole] = useState(false);
  const answer = useAnswer(isWhole ? `/api/dead/${id}` : null, readWholeLetter);
  const { words } = answer.kind === 'here' ? answer.value : letter;
  const name = `letter-${id}`;
  return h(
    'article',
    { class: `letter is-${kind}`, 'aria-labelledby': name },
    h(
      'header',
      null,
      h('h4', { id: name }, h('span', { class: 'letter-kind' }, KINDS[kind]), ` ${chat}`),
      h('p', { class: 'beat-facts' }, `${id} · ${momentOf(diedAt)}`),
    ),
    reason !== '' && h('p', { class: 'letter-reason', dir: 'auto' }, reason),
    words.map(({ from, text }, index) =>
      h('blockquote', { key: index, dir: 'auto' }, from !== '' && h('b', null, `${from}: `), text),
    ),
    factsOf(letter) !== '' && h('p', { class: 'beat-facts' }, factsOf(letter)),
    answer.kind === 'failed' && h('p', { class: 'trouble', role: 'alert' }, answer.reason),
    h(
      'p',
      { class: 'soul-actions' },
      h(Actions, { letter, isBusy, onWish }),
      letter.isCut &&
        h(
          'button',
          {
            type: 'button',
            class: 'soul-button',
            'aria-expanded': isWhole,
            onClick: () => setWhole(!isWhole),
          },
          isWhole ? 'Show less' : 'Show all',
        ),
    ),
  );
}

function Actions({ letter: { id, kind, steps }, isBusy, onWish }: LetterCardProps): VNode {
  const wish = (action: LetterWish['action']) => () =>
    onWish({ action, letters: id, evenTwice: action === 'replay' && kind === 'uncertain' });
  const again = kind === 'unanswered' ? 'Ask again' : 'Send again';
  return h(
    'span',
    { class: 'letter-actions' },
    h(SureButton, {
      words: again,
      label: `${again}: ${id}`,
      looks: 'usual',
      question: careOf(kind, steps),
      yes: `${again} all the same`,
      isBusy,
      onSure: wish('replay'),
    }),
    h(SureButton, {
      words: 'Drop',
      label: `Drop: ${id}`,
      looks: 'grave',
      question: 'It is then never sent and never listed again.',
      yes: 'Drop it',
      isBusy,
      onSure: wish('drop'),
    }),
  );
}

/** What may come of a second time. */
function careOf(kind: DeadKind, steps: number): string | undefined {
  if (kind === 'uncertain') return 'It may have arrived. Then it comes twice.';
  return steps > 0 ? 'What its tools did is done, and may be done again.' : undefined;
}

function factsOf({ part, file, steps }: DeadLetter): string {
  const facts = [
    ...(part > 0 ? [`Part ${part} of an answer.`] : []),
    ...(file === '' ? [] : [`With the file ${file}.`]),
    ...(steps > 0 ? [`Its turn had done ${steps} steps.`] : []),
  ];
  return facts.join(' ');
}
