import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useAnswer } from '../prompt/use-answer.ts';
import { LetterCard } from './letter-card.ts';
import { type DeadKind, type DeadPage, readDeadPage } from './read-dead.ts';
import { type LetterNews, type LetterWish, settleLetters } from './settle-letters.ts';
import { SureButton } from './sure-button.ts';

/** What was given up and waits for somebody's decision (D06). `onSettled`: what else is shown may have changed. */
export function DeadSection({
  round,
  onSettled,
}: {
  readonly round: number;
  readonly onSettled: () => void;
}): VNode {
  const [before, setBefore] = useState<number | null>(null);
  const [news, setNews] = useState<LetterNews>();
  const [isBusy, setBusy] = useState(false);
  const path = before === null ? '/api/dead?limit=20' : `/api/dead?limit=20&before=${before}`;
  const answer = useAnswer(path, readDeadPage, round);
  const onWish = async (wish: LetterWish): Promise<void> => {
    setBusy(true);
    setNews(undefined);
    setNews(await settleLetters(wish));
    setBusy(false);
    onSettled();
  };
  return h(
    'section',
    { class: 'dead', 'aria-label': 'Dead letters' },
    h('h3', null, 'Dead letters'),
    h(
      'p',
      { class: news?.isTrouble ? 'trouble' : 'soul-told', role: 'status', hidden: !news },
      news?.words,
    ),
    answer.kind === 'waiting' && h('p', { role: 'status' }, 'Looking…'),
    answer.kind === 'failed' && h('p', { class: 'trouble', role: 'alert' }, answer.reason),
    answer.kind === 'here' &&
      h(Letters, {
        page: answer.value,
        isBusy,
        isFirst: before === null,
        onWish,
        onPage: setBefore,
      }),
  );
}

interface LettersProps {
  readonly page: DeadPage;
  readonly isBusy: boolean;
  readonly isFirst: boolean;
  readonly onWish: (wish: LetterWish) => void;
  /** Null: the newest. */
  readonly onPage: (before: number | null) => void;
}

function Letters({ page, isBusy, isFirst, onWish, onPage }: LettersProps): VNode {
  const { letters, counts, next } = page;
  const all = counts.refused + counts.uncertain + counts.unanswered;
  if (all === 0) return h('p', null, 'Nothing was given up: all is delivered, or on its way.');
  return h(
    'div',
    null,
    h(All, { counts, isBusy, onWish }),
    h(
      'ul',
      { class: 'letters' },
      letters.map((letter) =>
        h('li', { key: letter.id }, h(LetterCard, { letter, isBusy, onWish })),
      ),
    ),
    h(
      'p',
      { class: 'soul-actions' },
      !isFirst && h(PageButton, { words: 'Newest', onPress: () => onPage(null) }),
      next !== null && h(PageButton, { words: 'Older', onPress: () => onPage(next) }),
    ),
  );
}

function PageButton({ words, onPress }: { readonly words: string; readonly onPress: () => void }) {
  return h('button', { type: 'button', class: 'soul-button', onClick: onPress }, words);
}

const ALL: readonly DeadKind[] = ['refused', 'uncertain', 'unanswered'];
const CERTAIN: readonly DeadKind[] = ['refused', 'unanswered'];

/** What is done with all of them; only worth it where there are several. */
function All({
  counts,
  isBusy,
  onWish,
}: Pick<LettersProps, 'isBusy' | 'onWish'> & Pick<DeadPage, 'counts'>) {
  const certain = counts.refused + counts.unanswered;
  const all = certain + counts.uncertain;
  const facts = `${counts.refused} not delivered, ${counts.uncertain} perhaps, ${counts.unanswered} not answered.`;
  const spared = counts.uncertain > 0 ? ` What may have arrived is left alone.` : '';
  return h(
    'div',
    { class: 'dead-all' },
    h('p', { class: 'beat-facts' }, facts),
    certain > 1 &&
      h(SureButton, {
        words: 'Send all again',
        looks: 'usual',
        question: `${certain} letters go out again.${spared}`,
        yes: `Send ${certain} again`,
        isBusy,
        onSure: () => onWish({ action: 'replay', letters: CERTAIN, evenTwice: false }),
      }),
    all > 1 &&
      h(SureButton, {
        words: 'Drop all',
        looks: 'grave',
        question: `${all} letters are never sent and never listed again.`,
        yes: `Drop ${all}`,
        isBusy,
        onSure: () => onWish({ action: 'drop', letters: ALL, evenTwice: false }),
      }),
  );
}
