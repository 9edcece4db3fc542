import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { act, useAnswer } from '../prompt/use-answer.ts';
import { forgetEverything } from '../session.ts';
import { browserName, readSessions, type ShownSession } from '../sessions/read-sessions.ts';
import { momentOf } from '../ui/moment.ts';

/** The browsers that are signed in, each with a button that ends it (U03). */
export function SessionsView(): VNode {
  const [round, setRound] = useState(0);
  const [trouble, setTrouble] = useState<string | null>(null);
  const answer = useAnswer('/api/sessions', readSessions, round);
  const end = async ({ id, isCurrent }: ShownSession): Promise<void> => {
    const reason = await act(`/api/sessions/${encodeURIComponent(id)}`, 'DELETE');
    if (reason === null && isCurrent) return forgetEverything();
    setTrouble(reason);
    setRound((last) => last + 1);
  };
  return h(
    'main',
    { class: 'beat-view' },
    h(
      'div',
      { class: 'beat-column' },
      h('div', { class: 'beat-head' }, h('h2', null, 'Signed-in browsers')),
      h(
        'p',
        { class: 'beat-facts' },
        'One that you do not know? End it, then run "parley token rotate".',
      ),
      trouble !== null && h('p', { class: 'trouble', role: 'alert' }, trouble),
      answer.kind === 'failed' && h('p', { class: 'trouble', role: 'alert' }, answer.reason),
      h(
        'ul',
        { class: 'letters' },
        answer.kind === 'here' &&
          answer.value.map((session) =>
            h('li', { key: session.id }, h(Session, { session, onEnd: () => void end(session) })),
          ),
      ),
    ),
  );
}

interface SessionProps {
  readonly session: ShownSession;
  readonly onEnd: () => void;
}

function Session({ session, onEnd }: SessionProps): VNode {
  const { id, userAgent, isCurrent, usedAt, createdAt, expiresAt, from } = session;
  const name = browserName(userAgent);
  return h(
    'article',
    { class: 'letter' },
    h('p', { title: userAgent }, h('b', null, name), isCurrent && ' this browser'),
    h('p', null, `Signed in ${from}: ${momentOf(createdAt)}`),
    h(
      'p',
      { class: 'beat-facts' },
      `${id} · last used: ${momentOf(usedAt)} · ends unless used: ${momentOf(expiresAt)}`,
    ),
    h(
      'p',
      { class: 'letter-actions' },
      h(
        'button',
        {
          type: 'button',
          class: `soul-button ${isCurrent ? '' : 'does-veto'}`,
          'aria-label': isCurrent ? 'Sign out of this browser' : `End: ${name}, ${id}`,
          onClick: onEnd,
        },
        isCurrent ? 'Sign out' : 'End',
      ),
    ),
  );
}
