import { h, type VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { DeadSection } from '../dead/dead-section.ts';
import { useAnswer } from '../prompt/use-answer.ts';
import { QueueLists, queueSummary } from '../queue/queue-lists.ts';
import { readQueue } from '../queue/read-queue.ts';
import { Icon } from '../ui/icons.ts';

/** It is looked again this often, in ms. */
const AGAIN_MS = 5_000;

/** What was given up, what waits, what runs and what is still to be sent (D06, U03). */
export function QueueView(): VNode {
  const [round, setRound] = useState(0);
  const answer = useAnswer('/api/queue', readQueue, round);
  const look = (): void => setRound((last) => last + 1);
  useEffect(() => {
    const timer = setTimeout(look, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [answer]);
  return h(
    'main',
    { class: 'beat-view queue-view' },
    h(
      'div',
      { class: 'beat-column' },
      h(
        'div',
        { class: 'beat-head' },
        h('h2', null, 'Queue'),
        h(
          'button',
          { type: 'button', class: 'quiet', onClick: look, title: 'Look again' },
          h(Icon, { name: 'again' }),
          'Refresh',
        ),
      ),
      answer.kind === 'here' && h('p', { class: 'beat-facts' }, queueSummary(answer.value)),
      h(DeadSection, { round, onSettled: look }),
      answer.kind === 'failed' && h('p', { class: 'trouble', role: 'alert' }, answer.reason),
      answer.kind === 'here' && h(QueueLists, { queue: answer.value }),
    ),
  );
}
