import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { type Answer, useAnswer } from '../prompt/use-answer.ts';
import { hrefOf, type Route } from '../route.ts';
import { Icon } from '../ui/icons.ts';
import { MessageLinks } from './message-links.ts';
import { readRecent, readWhy, type Why } from './read-why.ts';
import { StageList } from './stage-list.ts';

interface WhyViewProps {
  readonly route: Extract<Route, { view: 'why' }>;
}

/** What became of a message, stage by stage, or the exact reason for silence (D08). */
export function WhyView({ route }: WhyViewProps): VNode {
  const [round, setRound] = useState(0);
  const recent = useAnswer('/api/why/recent', readRecent, round);
  const messages = recent.kind === 'here' ? recent.value : [];
  const asked = route.message ?? 'last';
  const path = `/api/why?message=${encodeURIComponent(asked)}`;
  const answer = useAnswer(path, readWhy, round);
  const found = answer.kind === 'here' && answer.value.kind === 'found' ? answer.value : null;
  return h(
    'main',
    { class: `prompt-view why-view ${route.message === null ? 'shows-list' : 'shows-turn'}` },
    h(
      'nav',
      { class: 'turns', 'aria-label': 'Messages' },
      h(
        'div',
        { class: 'turns-head' },
        h('h2', null, 'Why'),
        h(
          'button',
          {
            type: 'button',
            class: 'quiet',
            onClick: () => setRound((last) => last + 1),
            title: 'Look again',
          },
          h(Icon, { name: 'again' }),
          'Refresh',
        ),
      ),
      h(AskForm, { key: asked, asked: route.message ?? '' }),
      recent.kind === 'failed' && h('p', { class: 'trouble', role: 'alert' }, recent.reason),
      h(MessageLinks, { messages, chosen: found?.message.name ?? null }),
    ),
    h(
      'article',
      { class: 'turn', tabIndex: -1 },
      h(
        'a',
        { class: 'back', href: hrefOf({ view: 'why', message: null }) },
        h(Icon, { name: 'back' }),
        'All messages',
      ),
      shown(answer),
    ),
  );
}

/** Where a message is named that the list does not show. */
function AskForm({ asked }: { readonly asked: string }): VNode {
  const [text, setText] = useState(asked);
  const submit = (event: Event): void => {
    event.preventDefault();
    if (text.trim() !== '') location.hash = hrefOf({ view: 'why', message: text.trim() });
  };
  return h(
    'form',
    { class: 'why-ask', onSubmit: submit },
    h('input', {
      'aria-label': 'Message',
      placeholder: 'Message, channel:chat/message or turn',
      value: text,
      onInput: ({ currentTarget }: Event) => {
        if (currentTarget instanceof HTMLInputElement) setText(currentTarget.value);
      },
    }),
    h('button', { type: 'submit', class: 'quiet' }, 'Ask'),
  );
}

function shown(answer: Answer<Why>): VNode {
  if (answer.kind === 'waiting') return h('p', { role: 'status' }, 'Looking…');
  if (answer.kind === 'failed') return h('p', { class: 'trouble', role: 'alert' }, answer.reason);
  const why = answer.value;
  if (why.kind === 'unknown') return h('p', { class: 'nothing' }, 'I know of no such message.');
  if (why.kind === 'several') {
    return h(
      'section',
      null,
      h('h3', null, 'Several messages have that id'),
      h(MessageLinks, { messages: why.candidates, chosen: null }),
    );
  }
  const { message, verdict, stages, turnId } = why;
  return h(
    'section',
    { class: 'why-sheet' },
    h('h3', null, verdict),
    h('p', { class: 'why-name' }, `${message.channel} ${message.chatId}, ${message.messageId}`),
    h(StageList, { stages, since: message.at }),
    turnId !== null &&
      h(
        'a',
        { class: 'why-prompt', href: hrefOf({ view: 'prompt', turn: turnId, against: null }) },
        'The prompt of its turn',
      ),
  );
}
