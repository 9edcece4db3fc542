import type { MessageName, Timeline, TimelineEntry, WhyAnswer } from '@parley/core';
import { h, type VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useAnswer } from './gateway.ts';
import { hrefOf, type Route } from './route.ts';
import { spanOf } from './ui/format.ts';
import { EntryLink, listOf, p, SplitView, shown, useFresh } from './ui/widgets.ts';

interface WhyViewProps {
  readonly route: Extract<Route, { view: 'why' }>;
}

/** What happened to a message, stage by stage, or the exact reason for silence (D08). */
export function WhyView({ route }: WhyViewProps): VNode {
  const {
    answer: recent,
    refresh,
    round,
  } = useFresh<{ readonly messages: readonly MessageName[] }>('/api/why/recent');
  const asked = route.message ?? 'last';
  const path = `/api/why?message=${encodeURIComponent(asked)}`;
  const answer = useAnswer<WhyAnswer>(path, round);
  const found = answer.kind === 'here' && answer.value.kind === 'found' ? answer.value : null;
  const chosen = found === null ? null : keyOf(found.timeline.message);
  return h(SplitView, {
    name: 'why-view',
    title: 'Why',
    label: 'Messages',
    refresh,
    showsList: route.message === null,
    list: [
      h(SearchForm, { key: asked, asked: route.message ?? '' }),
      shown(recent, ({ messages }) => h(MessageList, { messages, chosen })),
    ],
    back: hrefOf({ view: 'why', message: null }),
    sheet: shown(answer, (why) => h(WhySheet, { why })),
  });
}

/** Finds a message that the list does not show. */
function SearchForm({ asked }: { readonly asked: string }): VNode {
  const [text, setText] = useState(asked);
  const onSubmit = (event: Event): void => {
    event.preventDefault();
    if (text.trim() !== '') location.hash = hrefOf({ view: 'why', message: text.trim() });
  };
  return h(
    'form',
    { class: 'why-ask', onSubmit },
    h('input', {
      class: 'field',
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

interface MessageListProps {
  readonly messages: readonly MessageName[];
  readonly chosen: string | null;
}

/** Messages to choose from, newest first. */
function MessageList({ messages, chosen }: MessageListProps): VNode {
  return listOf('entry-list', messages, (message) => {
    const key = keyOf(message);
    const { channel, chatId, messageId: facts, at } = message;
    const href = hrefOf({ view: 'why', message: key });
    const title = `${channel} ${chatId}`;
    return h(EntryLink, { key, href, title, at, facts, isChosen: key === chosen });
  });
}

/** Names a message in a question to the gateway. */
function keyOf({ channel, account, chatId, messageId }: MessageName): string {
  return `${channel}/${account}:${chatId}/${messageId}`;
}

function WhySheet({ why }: { readonly why: WhyAnswer }): VNode {
  switch (why.kind) {
    case 'unknown':
      return p('nothing', 'There is no such message.');
    case 'several':
      return h(
        'section',
        null,
        h('h3', null, 'Several messages have that id'),
        h(MessageList, { messages: why.candidates, chosen: null }),
      );
    case 'found':
      return h(TimelineSheet, { timeline: why.timeline });
  }
}

function TimelineSheet({ timeline }: { readonly timeline: Timeline }): VNode {
  const { message, verdict, detail, entries, turnId, hasPrompt } = timeline;
  return h(
    'section',
    { class: 'sheet why-sheet' },
    h('h3', null, detail === undefined ? verdict : `${verdict} (${detail})`),
    p('why-name', `${message.channel} ${message.chatId}, ${message.messageId}`),
    h(
      'ol',
      { class: 'why-stages' },
      entries.map((entry, index) => h(Stage, { key: index, entry, receivedAt: message.at })),
    ),
    hasPrompt &&
      turnId !== null &&
      h(
        'a',
        { class: 'why-prompt', href: hrefOf({ view: 'prompt', turn: turnId, against: null }) },
        'The prompt of its turn',
      ),
  );
}

/** One stage; its time counts from the receipt of the message. */
function Stage(props: { readonly entry: TimelineEntry; readonly receivedAt: number }): VNode {
  const { stage, at, ms, text, detail, mark } = props.entry;
  const after = at === null ? null : at - props.receivedAt;
  const offset = after === null ? '' : `${after < 0 ? '−' : '+'}${spanOf(Math.abs(after))}`;
  const moment = at === null ? '' : new Date(at).toLocaleString();
  return h(
    'li',
    { class: mark === undefined ? '' : 'is-marked' },
    h('time', { title: moment }, offset),
    h('b', null, stage),
    h(
      'span',
      null,
      text,
      ms !== null && h('i', null, spanOf(ms)),
      detail !== undefined && h('small', { class: 'hint' }, detail),
    ),
  );
}
